"use strict";
// One traced pair as elements: its verdict, its sentences at a step, its steps, and their maps.

(() => {
  const element = report.element;
  const percent = (share) => (100 * share).toFixed(1);
  const hidden = (text) => element("span", { class: "hidden" }, text);

  /** What the model made of the pair, in sentences. */
  const verdict = (pair, data) => {
    const first = pair.steps[0].state;
    const effect = {
      corrected: "More steps corrected the answer",
      spoiled: "More steps spoiled the answer",
      "right throughout": "Right at every step",
      "wrong throughout": "Wrong at every step",
      "changed in between": "As after step 1, but not so in between",
    }[data.outcomes[pair.outcome]];
    const terms = [
      ["Gold label", data.labels[pair.label]],
      ["Answer", report.judged(data.labels[pair.predicted], pair.predicted === pair.label)],
      ["After step 1", report.judged(data.labels[first], first === pair.label)],
      ["Steps", String(pair.steps.length)],
      ...(pair.depth ? [["Recorded depth", String(pair.depth)]] : []),
      ...(data.runs.length > 1 ? [["Model", data.runs[pair.run]]] : []),
    ];
    const rows = terms.map(([term, said]) =>
      element("div", {}, element("dt", {}, term), element("dd", {}, said)),
    );
    return [
      element("h3", { class: "id" }, pair.id),
      element("p", { class: "effect" }, `${effect}.`),
      element("dl", { class: "facts" }, ...rows),
    ];
  };

  /** The greatest weight of a sentence at any step, which has the full shade. */
  const greatest = (pair, sentence) =>
    Math.max(0.001, ...pair.steps.map((step) => Math.max(...step[sentence])));

  /** Both sentences, each word with its weight at a step as a shade and a number. */
  const words = (pair, at) => {
    const step = pair.steps[at];
    return [["hypothesis", "Hypothesis, attended first"], ["premise", "Premise, attended then"]].map(
      ([sentence, heading]) => {
        const most = greatest(pair, sentence);
        const spans = pair[sentence].map((word, place) => {
          const share = step[sentence][place];
          const span = element(
            "span",
            { class: "word", title: `${word}: ${percent(share)} % of the attention` },
            element("span", { class: "token" }, word),
            hidden(" "),
            element("small", {}, percent(share)),
            hidden(" % "),
          );
          span.style.setProperty("--part", (share / most).toFixed(3));
          return span;
        });
        return element(
          "div",
          { class: `sentence ${sentence}` },
          element("h4", {}, heading, element("small", {}, " (% of attention)")),
          element("p", { class: "words" }, ...spans),
        );
      },
    );
  };

  /** A share as a bar with its number. */
  const bar = (share, name, classes) => {
    const cell = element(
      "td",
      { class: `bar ${classes}`, "data-name": name, role: "cell" },
      element("span", { class: "length" }),
      element("span", { class: "value" }, percent(share)),
    );
    cell.style.setProperty("--part", share.toFixed(3));
    return cell;
  };

  const classCells = (shares, best, pair, data) =>
    shares.map((share, label) =>
      bar(share, data.labels[label], label === best ? "best" : ""),
    );

  /** The table of the steps, the answer last; a button names each step. */
  const rows = (pair, data) => {
    const head = ["Step", "Halting", "Weight", ...data.labels, "By itself"];
    const judged = (label) => report.judged(data.labels[label], label === pair.label);
    const line = (name, cells) =>
      element("tr", { role: "row" }, element("th", { scope: "row", role: "rowheader" }, name), ...cells);
    const body = pair.steps.map((step, at) => {
      const button = element("button", { type: "button", class: "to" }, `Step ${at + 1}`);
      const row = line(button, [
        element("td", { class: "number", "data-name": "Halting", role: "cell" }, percent(step.halting)),
        bar(step.weight, "Weight", "weight"),
        ...classCells(step.classes, step.state, pair, data),
        element("td", { class: "says", role: "cell" }, judged(step.state)),
      ]);
      row.dataset.step = at;
      return row;
    });
    const answer = line("Answer", [
      element("td", { class: "none", role: "cell" }),
      element("td", { class: "none", role: "cell" }),
      ...classCells(pair.answer, pair.predicted, pair, data),
      element("td", { class: "says", role: "cell" }, judged(pair.predicted)),
    ]);
    answer.className = "answer";
    const columns = head.map((name) => element("th", { scope: "col", role: "columnheader" }, name));
    const caption =
      "Probabilities and weights in %. Halting: of the unit at this step. Weight: in the answer. " +
      "Then the answer that the state of this step would give by itself.";
    return element(
      "table",
      { class: "steps", role: "table" },
      element("caption", {}, caption),
      element("thead", { role: "rowgroup" }, element("tr", { role: "row" }, ...columns)),
      element("tbody", { role: "rowgroup" }, ...body, answer),
    );
  };

  /** All steps of a sentence as a map: a row a step, a column a word, as in the paper's figure 1. */
  const map = (pair, sentence) => {
    const most = greatest(pair, sentence);
    const columns = pair[sentence].map((word) =>
      element("th", { scope: "col" }, element("span", {}, word)),
    );
    const body = pair.steps.map((step, at) => {
      const cells = step[sentence].map((share, place) => {
        const words = `Step ${at + 1}, ${pair[sentence][place]}: ${percent(share)} %`;
        const cell = element("td", { title: words }, hidden(percent(share)));
        cell.style.setProperty("--part", (share / most).toFixed(3));
        return cell;
      });
      const name = element("th", { scope: "row" }, `${at + 1} `, report.mark(step.state === pair.label));
      const row = element("tr", {}, name, ...cells);
      row.dataset.step = at;
      return row;
    });
    const name = sentence === "premise" ? "Premise" : "Hypothesis";
    const caption = `${name} by step (strongest: ${percent(most)} %)`;
    const table = element(
      "table",
      { class: "map" },
      element("caption", {}, caption),
      element(
        "thead",
        {},
        element("tr", {}, element("th", { scope: "col" }, "Step"), ...columns),
      ),
      element("tbody", {}, ...body),
    );
    const label = `${caption}. Scrolls sideways.`;
    return element("div", { class: "frame", role: "region", tabindex: 0, "aria-label": label }, table);
  };

  report.examples.draw = { verdict, words, rows, map };
})();
