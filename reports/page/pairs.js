"use strict";
// Browser of traced pairs: attention, halting and prediction after each step.

(() => {
  const root = document.getElementById("pairs");
  const data = embeddedData("data-pairs");
  if (!root || !data) return;
  const percent = (perMille) => (perMille / 10).toFixed(1);
  const option = (text, value) => element("option", { value }, text);
  const choice = (label, name, names, all) =>
    element("label", {}, label, element("select", { name },
      option(all, ""), ...names.map((text, index) => option(text, index))));
  const label = (index, correct) => element("span", { class: correct ? "correct" : "incorrect" },
    `${data.labels[index]} ${correct ? "✓ correct" : "✗ incorrect"}`);

  const maxSteps = Math.max(...data.pairs.map((pair) => pair.steps.length));
  const counts = Array.from({ length: maxSteps }, (_, index) => String(index + 1));
  const form = element("form", { role: "search", "aria-label": "Traced pairs" },
    element("label", { class: "wide" }, "Words or pair id",
      element("input", { type: "search", name: "words", autocomplete: "off" })),
    data.runs.length > 1 ? choice("Model", "run", data.runs, "any") : "",
    choice("Gold label", "label", data.labels, "any"),
    choice("Prediction", "predicted", data.labels, "any"),
    choice("Effect of steps", "outcome", data.outcomes, "any"),
    choice("Steps", "steps", counts, "any"),
    element("button", { type: "reset" }, "Clear"));
  const status = element("p", { role: "status" });
  const list = element("select", { size: 9, "aria-label": "Matching pairs" });
  const slider = element("input", { type: "range", min: 1, step: 1, "aria-label": "Step" });
  const position = element("output");
  const [head, words, table, maps] = ["head", "words", "steps", "maps"].map(
    (name) => element("div", { class: name }));
  const link = element("a");
  const view = element("div", { class: "pair" }, head,
    element("p", { class: "stepper" }, slider, position, link), words, table, maps);
  root.append(form, status, element("div", { class: "columns" }, list, view),
    element("p", { class: "note" },
      "Keys: up and down in the list select a pair, left and right on the slider a step."));

  let current = null;

  const SENTENCES = [["hypothesis", 3], ["premise", 4]];  // and the index of its attention in a step
  const maxAttention = (pair, part) => Math.max(1, ...pair.steps.flatMap((step) => step[part]));
  const shade = (fraction) => `--part: ${fraction.toFixed(3)}`;

  /** Draw the words at the selected step, shaded relative to the maximum over all steps. */
  const drawStep = () => {
    const step = Number(slider.value) - 1;
    position.textContent = `Step ${step + 1} of ${current.steps.length}`;
    words.replaceChildren(...SENTENCES.map(([name, part]) => {
      const weights = current.steps[step][part];
      const spans = current[name].split(" ").map((text, index) => element("span", {
        class: "word", style: shade(weights[index] / maxAttention(current, part)),
        title: `${text}: ${percent(weights[index])} % of the attention`,
      }, text, element("small", {}, percent(weights[index]))));
      return element("p", {}, element("b", {}, name), " ", ...spans);
    }));
    view.querySelectorAll("tr[data-step]").forEach((row) =>
      row.toggleAttribute("data-current", Number(row.dataset.step) === step));
    link.href = `#pair=${encodeURIComponent(current.id)}&run=${current.run}&step=${step + 1}`;
    link.textContent = "Link to this step";
  };

  const tableRow = (attributes, name, ...cells) =>
    element("tr", attributes, element("th", { scope: "row" }, name), ...cells);
  const scrollTable = (name, type, caption, names, rows) =>
    element("div", { class: "scroll", role: "region", tabindex: 0, "aria-label": name },
      element("table", { class: type },
      element("caption", {}, caption),
      element("thead", {}, element("tr", {}, ...names.map(
        (name) => element("th", { scope: "col" }, name)))),
      element("tbody", {}, ...rows)));

  /** Return the table of steps, with the prediction as its last row. */
  const stepTable = (pair) => {
    const cells = (halting, weight, probabilities) => {
      const predicted = probabilities.indexOf(Math.max(...probabilities));
      return [element("td", { class: "number" }, halting), element("td", { class: "number" }, weight),
        ...probabilities.map((p) => element("td", { class: "bar", style: shade(p / 1000) }, percent(p))),
        element("td", {}, label(predicted, predicted === pair.label))];
    };
    const rows = pair.steps.map(([halting, weight, probabilities], step) => tableRow(
      { "data-step": step }, String(step + 1), ...cells(percent(halting), percent(weight), probabilities)));
    const caption = "In %: halting probability, weight of the state in the prediction, and class " +
      "probabilities of the state.";
    return scrollTable("steps", null, caption, ["Step", "Halting", "Weight", ...data.labels, "State"],
      [...rows, tableRow({ class: "answer" }, "Prediction", ...cells("", "", pair.answer))]);
  };

  /** Return a heat map of attention: a row per step, a column per word. */
  const heatMap = (pair, name, part) => {
    const max = maxAttention(pair, part);
    const tokens = pair[name].split(" ");
    const rows = pair.steps.map((step, index) => tableRow({ "data-step": index }, String(index + 1),
      ...step[part].map((weight, token) => element("td", {
        style: shade(weight / max), title: `Step ${index + 1}, ${tokens[token]}: ${percent(weight)} %`,
      }, element("span", { class: "hidden" }, percent(weight))))));
    const caption = `Attention to the ${name} by step (maximum ${percent(max)} %)`;
    return scrollTable(name, "map", caption,
      ["Step", ...tokens.map((text) => element("span", {}, text))], rows);
  };

  const show = (pair, step = 0) => {
    current = pair;
    const properties = [["Gold label", data.labels[pair.label]],
      ["Prediction", label(pair.predicted, pair.predicted === pair.label)],
      ["Effect of steps", data.outcomes[pair.outcome]], ["Model", data.runs[pair.run]]];
    head.replaceChildren(element("h3", {}, pair.id), element("dl", {}, ...properties.map(
      ([term, value]) => element("div", {}, element("dt", {}, term), element("dd", {}, value)))));
    table.replaceChildren(stepTable(pair));
    maps.replaceChildren(...SENTENCES.map(([name, part]) => heatMap(pair, name, part)));
    slider.max = pair.steps.length;
    slider.value = Math.min(Math.max(step, 0), pair.steps.length - 1) + 1;
    drawStep();
  };

  const matches = (pair, query) => {
    const text = ` ${pair.id} ${pair.premise} ${pair.hypothesis}`.toLowerCase();
    return query.words.toLowerCase().split(/\s+/).every((part) => text.includes(part))
      && ["run", "label", "predicted", "outcome"].every(
        (name) => !query[name] || pair[name] === Number(query[name]))
      && (!query.steps || pair.steps.length === Number(query.steps) + 1);
  };
  const filter = () => {
    const query = { words: "", ...Object.fromEntries(new FormData(form)) };
    const pairs = data.pairs.filter((pair) => matches(pair, query));
    const correct = pairs.filter((pair) => pair.label === pair.predicted).length;
    status.textContent = `${pairs.length} of ${data.pairs.length} pairs` +
      (pairs.length ? `, ${(100 * correct / pairs.length).toFixed(1)} % correct` : "");
    list.replaceChildren(...pairs.map((pair) => option(
      `${pair.predicted === pair.label ? "✓" : "✗"} ${pair.steps.length} steps · ${pair.hypothesis}`,
      data.pairs.indexOf(pair))));
    view.hidden = pairs.length === 0;
    if (!pairs.length) return;
    if (!pairs.includes(current)) show(pairs[0]);
    list.value = String(data.pairs.indexOf(current));
  };
  const openLink = () => {
    const target = new URLSearchParams(location.hash.slice(1));
    const pair = data.pairs.find(
      (other) => other.id === target.get("pair") && other.run === Number(target.get("run") ?? 0));
    if (!pair) return;
    list.value = String(data.pairs.indexOf(pair));
    show(pair, Number(target.get("step") ?? 1) - 1);
    root.scrollIntoView();
  };

  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(filter));
  list.addEventListener("change", () => show(data.pairs[Number(list.value)]));
  slider.addEventListener("input", drawStep);
  view.addEventListener("click", (event) => {
    const row = event.target.closest("tr[data-step]");
    if (!row) return;
    slider.value = Number(row.dataset.step) + 1;
    drawStep();
  });
  window.addEventListener("hashchange", openLink);
  filter();
  openLink();
})();
