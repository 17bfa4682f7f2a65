"use strict";
// The browser of traced pairs: what a model looked at, and would have answered, step by step.

(() => {
  const data = report.data("data-examples");
  const { index, unpack } = report.examples;
  const { percent, judged, verdict, word, cell, bar, table, map } = report.steps;
  const pairs = index(data);
  if (!pairs.length) {
    document.getElementById("examples-browser").hidden = true;
    return;
  }
  const sentence = (tokens) => tokens.replace(/^<null> /, "");
  const answered = (pair, label) => judged(data.labels[label], label === pair.label);
  /** The greatest weight of a sentence at any step, which has the full shade. */
  const greatest = (pair, name) => Math.max(0.001, ...pair.steps.flatMap((step) => step[name]));

  /** What the model made of the pair, in sentences. */
  const told = (pair) => {
    const effect = {
      corrected: "More steps corrected the answer",
      spoiled: "More steps spoiled the answer",
      "right throughout": "Right at every step",
      "wrong throughout": "Wrong at every step",
      "changed in between": "As after step 1, but not so in between",
    }[data.outcomes[pair.outcome]];
    return verdict(pair.id, effect, [
      ["Gold label", data.labels[pair.label]],
      ["Answer", answered(pair, pair.predicted)],
      ["After step 1", answered(pair, pair.steps[0].state)],
      ["Steps", String(pair.steps.length)],
      ...(pair.depth ? [["Recorded depth", String(pair.depth)]] : []),
      ...(data.runs.length > 1 ? [["Model", data.runs[pair.run]]] : []),
    ]);
  };

  /** Both sentences, each word with its weight at a step. */
  const words = (pair, at) =>
    [["hypothesis", "Hypothesis, attended first"], ["premise", "Premise, attended then"]].map(
      ([name, heading]) => {
        const most = greatest(pair, name);
        const spans = pair[name].map((text, place) => {
          const share = pair.steps[at][name][place];
          return word(text, share, { told: "of the attention", shade: share / most });
        });
        return report.element(
          "div",
          { class: `sentence ${name}` },
          report.element("h4", {}, heading, report.element("small", {}, " (% of attention)")),
          report.element("p", { class: "words" }, ...spans),
        );
      },
    );

  /** The table of the steps, the answer last. */
  const rows = (pair) => {
    const classes = (shares, best) =>
      shares.map((share, label) => bar(share, data.labels[label], label === best ? "best" : ""));
    const steps = pair.steps.map((step) => [
      cell(percent(step.halting), "number", "Halting"),
      bar(step.weight, "Weight", "weight"),
      ...classes(step.classes, step.state),
      cell(answered(pair, step.state), "says"),
    ]);
    const answer = classes(pair.answer, pair.predicted);
    const last = [cell([], "none"), cell([], "none"), ...answer, cell(answered(pair, pair.predicted), "says")];
    const caption =
      "Probabilities and weights in %. Halting: of the unit at this step. Weight: in the answer. " +
      "Then the answer that the state of this step would give by itself.";
    return [table("", caption, ["Halting", "Weight", ...data.labels, "By itself"], steps, last)];
  };

  const maps = (pair) => ["hypothesis", "premise"].map((name) => {
    const most = greatest(pair, name);
    const steps = pair.steps.map((step) => ({ values: step[name], right: step.state === pair.label }));
    return map(pair[name], steps, {
      caption: `${name[0].toUpperCase()}${name.slice(1)} by step (strongest: ${percent(most)} %)`,
      said: percent,
      told: (share) => `${percent(share)} %`,
      shade: (share) => share / most,
    });
  });

  const summary = (found) => {
    const all = pairs.length.toLocaleString("en");
    if (!found.length) return `None of ${all} pairs fits.`;
    const right = found.filter((pair) => pair.right).length / found.length;
    const steps = found.reduce((sum, pair) => sum + pair.steps, 0) / found.length;
    return `${found.length.toLocaleString("en")} of ${all} pairs; ${percent(right)} % of the answers ` +
      `are right, ${steps.toFixed(2)} steps in the mean.`;
  };

  report.browse("examples", {
    items: pairs,
    orders: {
      most: (one, other) => other.steps - one.steps,
      fewest: (one, other) => one.steps - other.steps,
      sure: (one, other) => other.confidence - one.confidence,
      unsure: (one, other) => one.confidence - other.confidence,
    },
    row: (pair) => [
      sentence(pair.hypothesis),
      sentence(pair.premise),
      data.labels[pair.predicted],
      pair.right,
      `${pair.steps} ${pair.steps === 1 ? "step" : "steps"} · ${data.outcomes[pair.outcome]}`,
    ],
    summary,
    key: "pair",
    id: (pair) => pair.id,
    runs: data.runs.length > 1,
    missing: (id) => `No pair ${id} is on this page.`,
    open: (pair) => unpack(data, pair),
    parts: { verdict: told, rows, maps },
    words,
  });
})();
