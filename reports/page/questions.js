"use strict";
// The browser of traced questions: what readers wrote over the query, and said, step by step.

(() => {
  const data = report.data("data-questions");
  const element = report.element;
  const { percent, judged, verdict, word, cell, bar, table, map } = report.steps;
  const BLANK = "XXXXX"; // stands for the word that is asked for
  const all = data.traces.map((trace) => {
    const question = data.questions[trace.question];
    return {
      ...question,
      ...trace,
      right: trace.predicted === question.answer,
      first: trace.steps[0].answer === question.answer,
      words: ` ${question.query.join(" ")} ${question.candidates.join(" ")}`.toLowerCase(),
      title: "",
    };
  });
  const answered = (one, answer) => judged(answer, answer === one.answer);

  /** What the reader made of the question, in sentences. */
  const told = (one) => {
    const effect = one.right
      ? one.first ? "Right from the first step" : "Later steps corrected the answer"
      : one.first ? "Later steps spoiled the answer" : "Wrong from the first step";
    return verdict(`${data.kinds[one.kind]}, question ${one.number} of dev`, effect, [
      ["Asked for", one.answer],
      ["Answer", answered(one, one.predicted)],
      ["First step by itself", answered(one, one.steps[0].answer)],
      ["Candidates", one.candidates.join(", ")],
      ["Reader", data.runs[one.run]],
      ["Most attended", one.attended.join(", ")],
    ]);
  };

  /** The query, each word with the share that a step writes over; the last step writes nothing. */
  const words = (one, at) => {
    const { key, gate } = one.steps[at];
    const last = at === one.steps.length - 1;
    const spans = one.query.map((text, place) => {
      const share = last ? 0 : (1 - key[place]) * (1 - (gate ? gate[place] : 0));
      const classes = text === BLANK ? "word blank" : "word";
      return word(text, share, { told: "written over", classes, silent: last });
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

  const rows = (one) => {
    const halting = one.steps.some((step) => step.halting !== null);
    const halts = (share) => (share === null ? cell("–", "number", "Halting") : bar(share, "Halting"));
    const steps = one.steps.map((step) => [
      ...(halting ? [halts(step.halting)] : []),
      bar(step.weight, "Weight"),
      cell(answered(one, step.answer), "says"),
      bar(step.probability, "Its probability"),
    ]);
    const names = [...(halting ? ["Halting"] : []), "Weight", "By itself", "Its probability"];
    const caption =
      `In %. ${halting ? "Halting: the chance that the step ends the loop if it is reached. " : ""}` +
      "Weight: what the step counts in the answer. Then the answer that it would give by itself.";
    return [table(halting ? "turns halting" : "turns", caption, names, steps)];
  };

  /** The key of each word and step, and where there are gates, those. */
  const maps = (one) => {
    const strip = (name, caption, shade) => map(
      one.query,
      one.steps
        .map((step) => ({ values: step[name], right: step.answer === one.answer }))
        .filter(({ values }) => values),
      {
        caption,
        said: (value) => value.toFixed(2),
        told: (value) => `${name} ${value.toFixed(2)}`,
        shade,
        blank: BLANK,
      },
    );
    const keys = strip("key", "Key by step; strong colour: near 0, to be written over", (z) => 1 - z);
    if (!one.steps.some((step) => step.gate)) return [keys];
    return [keys, strip("gate", "Gate by step; strong colour: near 1, kept as it was", (g) => g)];
  };

  /** The document, its candidates and its most attended words marked. */
  const text = (one) => {
    const small = (names) => new Set(names.map((name) => name.toLowerCase()));
    const [candidates, attended] = [small(one.candidates), small(one.attended)];
    const spans = one.document.flatMap((spelt) => {
      const plain = spelt.toLowerCase();
      const answer = plain === one.answer.toLowerCase();
      const shown = candidates.has(plain)
        ? element("span", { class: answer ? "candidate answer" : "candidate" }, spelt)
        : spelt;
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

  const summary = (found) => {
    if (!found.length) return `None of ${all.length} fits.`;
    const share = (name) => percent(found.filter((one) => one[name]).length / found.length);
    return `${found.length} of ${all.length}; ${share("right")} % of the answers are right, and ` +
      `${share("first")} % of those of the first step by itself.`;
  };

  report.browse("questions", {
    items: all,
    row: (one) => [
      one.query.join(" "),
      `${data.kinds[one.kind]}, question ${one.number}`,
      one.predicted,
      one.right,
      data.runs[one.run],
    ],
    summary,
    key: "question",
    id: (one) => `${data.codes[one.kind]}-${one.number}`,
    runs: true,
    missing: (id) => `No question ${id} of that reader is on this page.`,
    open: (one) => one,
    parts: { verdict: told, rows, maps, document: text },
    words,
  });
})();
