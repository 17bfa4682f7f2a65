"use strict";
// The browser of traced pairs: filters, the list of what they find, and the pair that is chosen.

(() => {
  const { index, find, unpack, draw } = report.examples;
  const data = report.data("data-examples");
  const at = (name) => document.getElementById(`examples-${name}`);
  const browser = at("browser");
  const pairs = index(data);
  if (!pairs.length) {
    browser.hidden = true;
    return;
  }
  const form = at("filters");
  let found = pairs;
  let shown = null; // the pair whose steps are drawn
  let step = 0;

  const sentence = (tokens) => tokens.replace(/^<null> /, "");
  const rows = (pair) => [
    report.element("span", { class: "line" }, sentence(pair.hypothesis)),
    report.element("span", { class: "line muted" }, sentence(pair.premise)),
    report.element(
      "span",
      { class: "line small" },
      `${data.labels[pair.predicted]} `,
      report.mark(pair.right),
      ` · ${pair.steps} ${pair.steps === 1 ? "step" : "steps"} · ${data.outcomes[pair.outcome]}`,
    ),
  ];

  const address = () => {
    const named = new URLSearchParams({ pair: shown.id });
    if (data.runs.length > 1) named.set("run", shown.run + 1);
    if (step) named.set("step", step + 1);
    return `#${named}`;
  };

  const toStep = (wanted) => {
    step = report.step(at, at("pair"), wanted, shown.steps.length);
    at("words").replaceChildren(...draw.words(shown, step));
  };

  const drawPair = (pair, wanted) => {
    shown = unpack(data, pair);
    at("pair").hidden = false;
    at("verdict").replaceChildren(...draw.verdict(shown, data));
    at("rows").replaceChildren(draw.rows(shown, data));
    at("maps").replaceChildren(...["hypothesis", "premise"].map((s) => draw.map(shown, s)));
    at("step").max = shown.steps.length;
    toStep(wanted);
    at("link").href = address();
    at("previous").disabled = results.place() === 0;
    at("next").disabled = results.place() === found.length - 1;
  };

  const choose = {
    pair(pair) {
      drawPair(pair, 0);
      report.remember(at("link"), address());
    },
    step(wanted) {
      toStep(wanted);
      report.remember(at("link"), address());
    },
  };
  const results = report.list(at("list"), rows, choose.pair);

  /** Show what fits the filters; the chosen pair stays if it does, else the first is drawn. */
  const filter = () => {
    found = find(pairs, Object.fromEntries(new FormData(form)));
    const place = shown ? found.findIndex((pair) => pair.at === shown.at) : -1;
    results.show(found, place < 0 && found.length ? 0 : place);
    at("found").textContent = summary();
    if (!found.length) at("pair").hidden = true;
    else drawPair(found[Math.max(place, 0)], place < 0 ? 0 : step);
  };

  const summary = () => {
    const all = pairs.length.toLocaleString("en");
    if (!found.length) return `None of ${all} pairs fits.`;
    const right = found.filter((pair) => pair.right).length / found.length;
    const steps = found.reduce((sum, pair) => sum + pair.steps, 0) / found.length;
    const count = found.length.toLocaleString("en");
    return `${count} of ${all} pairs; ${(100 * right).toFixed(1)} % of the answers are right, ` +
      `${steps.toFixed(2)} steps in the mean.`;
  };

  /** Show the pair that the address names, if it names one. */
  const follow = () => {
    const named = new URLSearchParams(location.hash.slice(1));
    if (!named.has("pair")) return;
    const run = Number(named.get("run") ?? 1) - 1;
    const pair = pairs.find((p) => p.id === named.get("pair") && p.run === run);
    if (!pair) {
      at("found").textContent = `No pair ${named.get("pair")} is on this page.`;
      return;
    }
    const open = results.place() >= 0 && shown.at === pair.at;
    if (!open) {
      form.reset();
      found = find(pairs, Object.fromEntries(new FormData(form)));
      results.show(found, found.indexOf(pair));
      at("found").textContent = summary();
    }
    drawPair(pair, Number(named.get("step") ?? 1) - 1);
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
