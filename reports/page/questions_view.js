"use strict";
// One traced question as elements: its verdict, its query at a step, its steps, what is written over
// the query, and the document.

report.questions = {};

(() => {
  const element = report.element;
  const percent = (share) => (100 * share).toFixed(1);
  const hidden = (text) => element("span", { class: "hidden" }, text);
  const BLANK = "XXXXX"; // stands for the word that is asked for

  /** The share of each word of the query that a step writes over; the last step writes nothing. */
  const written = (one, at) => {
    const { key, gate } = one.steps[at];
    if (at === one.steps.length - 1) return key.map(() => 0);
    return key.map((z, place) => (1 - z) * (1 - (gate ? gate[place] : 0)));
  };

  /** What the reader made of the question, in sentences. */
  const verdict = (one, data) => {
    const first = one.steps[0].answer === one.answer;
    const effect = one.right
      ? first ? "Right from the first step" : "Later steps corrected the answer"
      : first ? "Later steps spoiled the answer" : "Wrong from the first step";
    const terms = [
      ["Asked for", one.answer],
      ["Answer", report.judged(one.predicted, one.predicted === one.answer)],
      ["First step by itself", report.judged(one.steps[0].answer, first)],
      ["Candidates", one.candidates.join(", ")],
      ["Reader", data.runs[one.run]],
      ["Most attended", one.attended.join(", ")],
    ];
    const rows = terms.map(([term, said]) =>
      element("div", {}, element("dt", {}, term), element("dd", {}, said)),
    );
    return [
      element("h3", { class: "id" }, `${data.kinds[one.kind]}, question ${one.number} of dev`),
      element("p", { class: "effect" }, `${effect}.`),
      element("dl", { class: "facts" }, ...rows),
    ];
  };

  /** The query, each word with the share that a step writes over as a shade and a number. */
  const query = (one, at) => {
    const shares = written(one, at);
    const last = at === one.steps.length - 1;
    const spans = one.query.map((word, place) => {
      const span = element(
        "span",
        {
          class: word === BLANK ? "word blank" : "word",
          title: `${word}: ${percent(shares[place])} % written over`,
        },
        element("span", { class: "token" }, word),
        hidden(" "),
        element("small", {}, last ? "–" : percent(shares[place])),
        hidden(last ? " " : " % "),
      );
      span.style.setProperty("--part", shares[place].toFixed(3));
      return span;
    });
    const said = last
      ? "The last step writes nothing over the query: it answers."
      : "Each word with the share of it that this step writes over, in %.";
    return [
      element("h4", {}, "Query"),
      element("p", { class: "words" }, ...spans),
      element("p", { class: "said" }, said),
    ];
  };

  /** A share as a bar with its number. */
  const bar = (share, name) => {
    const cell = element(
      "td",
      { class: "bar", "data-name": name, role: "cell" },
      element("span", { class: "length" }),
      element("span", { class: "value" }, percent(share)),
    );
    cell.style.setProperty("--part", share.toFixed(3));
    return cell;
  };

  const halts = (one) => one.steps.some((step) => step.halting !== null);

  /** The table of the steps; a button names each. */
  const rows = (one) => {
    const halting = halts(one);
    const judged = ({ answer }) => report.judged(answer, answer === one.answer);
    const body = one.steps.map((step, at) => {
      const name = element("button", { type: "button", class: "to" }, `Step ${at + 1}`);
      const none = () => element("td", { class: "number", "data-name": "Halting", role: "cell" }, "–");
      const cells = [
        ...(halting ? [step.halting === null ? none() : bar(step.halting, "Halting")] : []),
        bar(step.weight, "Weight"),
        element("td", { class: "says", role: "cell" }, judged(step)),
        bar(step.probability, "Its probability"),
      ];
      const head = element("th", { scope: "row", role: "rowheader" }, name);
      const row = element("tr", { role: "row" }, head, ...cells);
      row.dataset.step = at;
      return row;
    });
    const names = ["Step", ...(halting ? ["Halting"] : []), "Weight", "By itself", "Its probability"];
    const columns = names.map((name) => element("th", { scope: "col", role: "columnheader" }, name));
    const caption =
      `In %. ${halting ? "Halting: the chance that the step ends the loop if it is reached. " : ""}` +
      "Weight: what the step counts in the answer. Then the answer that it would give by itself.";
    return element(
      "table",
      { class: halting ? "steps turns halting" : "steps turns", role: "table" },
      element("caption", {}, caption),
      element("thead", { role: "rowgroup" }, element("tr", { role: "row" }, ...columns)),
      element("tbody", { role: "rowgroup" }, ...body),
    );
  };

  /** All steps as a strip: a row a step, a column a word; `shade` says how strong a value's colour is. */
  const map = (one, name, caption, steps, shade) => {
    const columns = one.query.map((word) =>
      element("th", { scope: "col", class: word === BLANK ? "blank" : null }, element("span", {}, word)),
    );
    const body = steps.map((values, at) => {
      const cells = values.map((value, place) => {
        const said = `Step ${at + 1}, ${one.query[place]}: ${name} ${value.toFixed(2)}`;
        const cell = element("td", { title: said }, hidden(value.toFixed(2)));
        cell.style.setProperty("--part", shade(value).toFixed(3));
        return cell;
      });
      const right = one.steps[at].answer === one.answer;
      const row = element("tr", {}, element("th", { scope: "row" }, `${at + 1} `, report.mark(right)), ...cells);
      row.dataset.step = at;
      return row;
    });
    const table = element(
      "table",
      { class: "map" },
      element("caption", {}, caption),
      element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "Step"), ...columns)),
      element("tbody", {}, ...body),
    );
    const label = `${caption}. Scrolls sideways.`;
    return element("div", { class: "frame", role: "region", tabindex: 0, "aria-label": label }, table);
  };

  /** The key of each word and step, and where there are gates, those. */
  const maps = (one) => {
    const keys = one.steps.map((step) => step.key);
    const gates = one.steps.map((step) => step.gate).filter(Boolean);
    const drawn = [map(one, "key", "Key by step; strong colour: near 0, to be written over", keys, (z) => 1 - z)];
    if (gates.length) {
      drawn.push(map(one, "gate", "Gate by step; strong colour: near 1, kept as it was", gates, (g) => g));
    }
    return drawn;
  };

  /** The document, its candidates and its most attended words marked. */
  const text = (one) => {
    const small = (words) => new Set(words.map((word) => word.toLowerCase()));
    const [candidates, attended] = [small(one.candidates), small(one.attended)];
    const spans = one.document.flatMap((word) => {
      const plain = word.toLowerCase();
      const named = candidates.has(plain);
      const answer = plain === one.answer.toLowerCase();
      const shown = named
        ? element("span", { class: answer ? "candidate answer" : "candidate" }, word)
        : word;
      return [attended.has(plain) ? element("mark", {}, shown) : shown, " "];
    });
    const sign = (tag, classes, name) => element(tag, { class: classes }, element("span", {}, name));
    return [
      element("h4", {}, "Document"),
      element(
        "p",
        { class: "signs" },
        sign("span", "candidate", "candidate"),
        sign("span", "candidate answer", "right candidate"),
        sign("mark", null, "most attended"),
      ),
      element("p", { class: "text" }, ...spans),
    ];
  };

  Object.assign(report.questions, { verdict, query, rows, maps, text });
})();
