"use strict";
// The browser of traced pairs: what the model attends to, and would answer, after each step.

(() => {
  const place = document.getElementById("pairs");
  const data = embeddedData("data-pairs");
  if (!place || !data) return;
  const percent = (share) => (share / 10).toFixed(1);
  const option = (text, value) => element("option", { value }, text);
  const choice = (label, name, names, all) =>
    element("label", {}, label, element("select", { name },
      option(all, ""), ...names.map((text, at) => option(text, at))));
  const label = (at, right) => element("span", { class: right ? "right" : "wrong" },
    `${data.labels[at]} ${right ? "✓ right" : "✗ wrong"}`);

  const most = Math.max(...data.pairs.map((pair) => pair.steps.length));
  const counts = Array.from({ length: most }, (_, at) => String(at + 1));
  const form = element("form", { role: "search", "aria-label": "Traced pairs" },
    element("label", { class: "wide" }, "Words or a pair id",
      element("input", { type: "search", name: "words", autocomplete: "off" })),
    data.runs.length > 1 ? choice("Model", "run", data.runs, "any") : "",
    choice("Gold label", "label", data.labels, "any"),
    choice("Answer", "predicted", data.labels, "any"),
    choice("More steps", "outcome", data.outcomes, "any effect"),
    choice("Steps", "steps", counts, "any number"),
    element("button", { type: "reset" }, "Clear"));
  const found = element("p", { role: "status" });
  const list = element("select", { size: 9, "aria-label": "Pairs found" });
  const slider = element("input", { type: "range", min: 1, step: 1, "aria-label": "Step" });
  const at = element("output");
  const [head, words, table, maps] = ["head", "words", "steps", "maps"].map(
    (name) => element("div", { class: name }));
  const link = element("a");
  const one = element("div", { class: "pair" }, head,
    element("p", { class: "stepper" }, slider, at, link), words, table, maps);
  place.append(form, found, element("div", { class: "columns" }, list, one),
    element("p", { class: "note" },
      "Keys: up and down in the list choose a pair, left and right on the slider a step."));

  let shown = null;

  /** A word shaded by its share of the attention, of the greatest at any step. */
  const word = (text, share, greatest) => element("span", {
    class: "word", style: `--part: ${(share / Math.max(1, greatest)).toFixed(3)}`,
    title: `${text}: ${percent(share)} % of the attention`,
  }, text, element("small", {}, percent(share)));

  const SENTENCES = [["hypothesis", 3], ["premise", 4]];
  const greatest = (pair, part) => Math.max(...pair.steps.flatMap((step) => step[part]));

  const drawStep = () => {
    const step = Number(slider.value) - 1;
    at.textContent = `Step ${step + 1} of ${shown.steps.length}`;
    words.replaceChildren(...SENTENCES.map(([name, part]) => {
      const shares = shown.steps[step][part];
      const spans = shown[name].split(" ").map(
        (text, index) => word(text, shares[index], greatest(shown, part)));
      return element("p", {}, element("b", {}, name), " ", ...spans);
    }));
    one.querySelectorAll("tr[data-step]").forEach((row) =>
      row.toggleAttribute("data-current", Number(row.dataset.step) === step));
    link.href = `#pair=${encodeURIComponent(shown.id)}&run=${shown.run}&step=${step + 1}`;
    link.textContent = "Link to this step";
  };

  const argmax = (shares) => shares.indexOf(Math.max(...shares));
  const bar = (share) => element("td", {
    class: "bar", style: `--part: ${(share / 1000).toFixed(3)}` }, percent(share));

  /** The table of the steps, the answer last. */
  const steps = (pair) => {
    const row = (name, halting, weight, shares, step) => {
      const guess = argmax(shares);
      return element("tr", step === null ? { class: "answer" } : { "data-step": step },
        element("th", { scope: "row" }, name),
        element("td", { class: "number" }, halting), element("td", { class: "number" }, weight),
        ...shares.map(bar), element("td", {}, label(guess, guess === pair.label)));
    };
    const names = ["Step", "Halting", "Weight", ...data.labels, "State alone"];
    return element("table", {},
      element("caption", {}, "In %: halting probability, weight in the answer, and what the " +
        "state after each step would answer alone."),
      element("thead", {}, element("tr", {}, ...names.map(
        (name) => element("th", { scope: "col" }, name)))),
      element("tbody", {},
        ...pair.steps.map(([halting, weight, shares], step) =>
          row(String(step + 1), percent(halting), percent(weight), shares, step)),
        row("Answer", "", "", pair.answer, null)));
  };

  /** Attention of all steps as a map: a row a step, a column a word. */
  const map = (pair, name, part) => {
    const full = Math.max(1, greatest(pair, part));
    const tokens = pair[name].split(" ");
    const head_ = tokens.map((text) => element("th", { scope: "col" }, element("span", {}, text)));
    const rows = pair.steps.map((step, index) => element("tr", { "data-step": index },
      element("th", { scope: "row" }, String(index + 1)),
      ...step[part].map((share, token) => element("td", {
        style: `--part: ${(share / full).toFixed(3)}`,
        title: `Step ${index + 1}, ${tokens[token]}: ${percent(share)} %`,
      }, element("span", { class: "hidden" }, percent(share))))));
    return element("div", { class: "scroll", role: "region", tabindex: 0, "aria-label": name },
      element("table", { class: "map" },
        element("caption", {}, `Attention to the ${name} by step (strongest ${percent(full)} %)`),
        element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "Step"), ...head_)),
        element("tbody", {}, ...rows)));
  };

  const show = (pair, step = 0) => {
    shown = pair;
    const facts = [["Gold label", data.labels[pair.label]],
      ["Answer", label(pair.predicted, pair.predicted === pair.label)],
      ["More steps", data.outcomes[pair.outcome]], ["Model", data.runs[pair.run]]];
    head.replaceChildren(element("h3", {}, pair.id), element("dl", {}, ...facts.map(
      ([term, value]) => element("div", {}, element("dt", {}, term), element("dd", {}, value)))));
    table.replaceChildren(element("div", { class: "scroll" }, steps(pair)));
    maps.replaceChildren(...SENTENCES.map(([name, part]) => map(pair, name, part)));
    slider.max = pair.steps.length;
    slider.value = Math.min(Math.max(step, 0), pair.steps.length - 1) + 1;
    drawStep();
  };

  const fits = (pair, wanted) => {
    const text = ` ${pair.id} ${pair.premise} ${pair.hypothesis}`.toLowerCase();
    return wanted.words.toLowerCase().split(/\s+/).every((part) => text.includes(part))
      && ["run", "label", "predicted", "outcome"].every(
        (name) => !wanted[name] || pair[name] === Number(wanted[name]))
      && (!wanted.steps || pair.steps.length === Number(wanted.steps) + 1);
  };
  const filter = () => {
    const wanted = { words: "", ...Object.fromEntries(new FormData(form)) };
    const kept = data.pairs.map((pair, index) => [pair, index]).filter(([pair]) => fits(pair, wanted));
    const right = kept.filter(([pair]) => pair.label === pair.predicted).length;
    found.textContent = `${kept.length} of ${data.pairs.length} pairs` +
      (kept.length ? `, ${(100 * right / kept.length).toFixed(1)} % answered right` : "");
    list.replaceChildren(...kept.map(([pair, index]) => option(
      `${pair.predicted === pair.label ? "✓" : "✗"} ${pair.steps.length} steps · ${pair.hypothesis}`,
      index)));
    one.hidden = kept.length === 0;
    if (!kept.length) return;
    const same = kept.find(([pair]) => pair === shown);
    list.value = String((same ?? kept[0])[1]);
    if (!same) show(kept[0][0]);
  };
  const follow = () => {
    const named = new URLSearchParams(location.hash.slice(1));
    const pair = data.pairs.find(
      (other) => other.id === named.get("pair") && other.run === Number(named.get("run") ?? 0));
    if (!pair) return;
    list.value = String(data.pairs.indexOf(pair));
    show(pair, Number(named.get("step") ?? 1) - 1);
    place.scrollIntoView();
  };

  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(filter));
  list.addEventListener("change", () => show(data.pairs[Number(list.value)]));
  slider.addEventListener("input", drawStep);
  one.addEventListener("click", (event) => {
    const row = event.target.closest("tr[data-step]");
    if (!row) return;
    slider.value = Number(row.dataset.step) + 1;
    drawStep();
  });
  window.addEventListener("hashchange", follow);
  filter();
  follow();
})();
