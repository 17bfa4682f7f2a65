"use strict";
// The browser of traced questions: filters, the list of what they find, and the one that is chosen.

(() => {
  const draw = report.questions;
  const data = report.data("data-questions");
  const at = (name) => document.getElementById(`questions-${name}`);
  const browser = at("browser");
  const form = at("filters");
  const all = data.traces.map((trace, place) => {
    const question = data.questions[trace.question];
    return {
      ...question,
      ...trace,
      place,
      right: trace.predicted === question.answer,
      first: trace.steps[0].answer === question.answer,
      words: ` ${question.query.join(" ")} ${question.candidates.join(" ")}`.toLowerCase(),
    };
  });
  let found = all;
  let shown = null; // the question whose steps are drawn
  let step = 0;

  const rows = (one) => [
    report.element("span", { class: "line" }, one.query.join(" ")),
    report.element("span", { class: "line muted" }, `${data.kinds[one.kind]}, question ${one.number}`),
    report.element(
      "span",
      { class: "line small" },
      `${one.predicted} `,
      report.mark(one.right),
      ` · ${data.runs[one.run]}`,
    ),
  ];

  const address = () => {
    const named = new URLSearchParams({ question: nameOf(shown), run: shown.run + 1 });
    if (step) named.set("step", step + 1);
    return `#${named}`;
  };
  const nameOf = (one) => `${data.codes[one.kind]}-${one.number}`;

  const toStep = (wanted) => {
    step = report.step(at, at("one"), wanted, shown.steps.length);
    at("query").replaceChildren(...draw.query(shown, step));
  };

  const drawOne = (one, wanted) => {
    shown = one;
    at("one").hidden = false;
    at("verdict").replaceChildren(...draw.verdict(one, data));
    at("rows").replaceChildren(draw.rows(one));
    at("maps").replaceChildren(...draw.maps(one));
    at("document").replaceChildren(...draw.text(one));
    at("step").max = one.steps.length;
    toStep(wanted);
    at("link").href = address();
    at("previous").disabled = results.place() === 0;
    at("next").disabled = results.place() === found.length - 1;
  };

  const choose = {
    one(one) {
      drawOne(one, 0);
      report.remember(at("link"), address());
    },
    step(wanted) {
      toStep(wanted);
      report.remember(at("link"), address());
    },
  };
  const results = report.list(at("list"), rows, choose.one);

  /** Those that fit: each word begins a word of the query or a candidate; an empty choice fits all. */
  const find = ({ search, right, first, ...choices }) => {
    const words = search.toLowerCase().split(/\s+/).filter(Boolean);
    const is = (value, choice) => choice === "" || value === (choice === "1");
    return all.filter(
      (one) =>
        Object.entries(choices).every(([name, value]) => value === "" || one[name] === Number(value)) &&
        is(one.right, right) &&
        is(one.first, first) &&
        words.every((word) => one.words.includes(` ${word}`)),
    );
  };

  const summary = () => {
    if (!found.length) return `None of ${all.length} fits.`;
    const share = (name) => (100 * found.filter((one) => one[name]).length) / found.length;
    return `${found.length} of ${all.length}; ${share("right").toFixed(1)} % of the answers are ` +
      `right, and ${share("first").toFixed(1)} % of those of the first step by itself.`;
  };

  /** Show what fits the filters; the chosen question stays if it does, else the first is drawn. */
  const filter = () => {
    found = find(Object.fromEntries(new FormData(form)));
    const place = shown ? found.indexOf(shown) : -1;
    results.show(found, place < 0 && found.length ? 0 : place);
    at("found").textContent = summary();
    if (!found.length) at("one").hidden = true;
    else drawOne(found[Math.max(place, 0)], place < 0 ? 0 : step);
  };

  /** Show the question that the address names, if it names one. */
  const follow = () => {
    const named = new URLSearchParams(location.hash.slice(1));
    if (!named.has("question")) return;
    const run = Number(named.get("run") ?? 1) - 1;
    const one = all.find((o) => nameOf(o) === named.get("question") && o.run === run);
    if (!one) {
      at("found").textContent = `No question ${named.get("question")} of that reader is on this page.`;
      return;
    }
    if (results.place() < 0 || shown !== one) {
      form.reset();
      found = all;
      results.show(found, found.indexOf(one));
      at("found").textContent = summary();
    }
    drawOne(one, Number(named.get("step") ?? 1) - 1);
    report.arrive(browser);
  };

  report.steer({
    at,
    browser,
    form,
    results,
    filter,
    follow,
    any: () => found.length > 0,
    to: choose.step,
    by: (steps) => choose.step(step + steps),
  });
})();
