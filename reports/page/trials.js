"use strict";
// The explorer of the grid: what is asked for, and the trials that answer, in chart and table.

(() => {
  const { models, charts } = report.data("data-trials");
  const part = (name) => document.getElementById(`trials-${name}`);
  const [picker, key, settings, least, most] = ["model", "key", "settings", "least", "most"]
    .map(part);
  let model = models[0];
  let shown = [];
  let kept = null; // the key of the trial that was chosen in the table
  const PREFIX = "#trials?";

  const named = (name) => model.trials.find((trial) => trial.key === name) ?? null;
  const focus = (name) => {
    const trial = named(name ?? kept);
    chart.focus(trial && shown.includes(trial) ? trial : null);
    part("focused").textContent = trial
      ? `${report.trialsChart.said(model, trial).join(", ").replace("trial", "Trial")}.`
      : "No trial is chosen.";
    table.mark(trial?.key, name !== null);
  };
  const chart = report.trialsChart.chart(part("chart"), charts, focus);
  const table = report.trialsTable(part("table"), part("all"), (name) => {
    kept = name;
    focus(null);
  });

  /** A box for each value of each setting; all are ticked at first. */
  const offer = () => {
    picker.value = model.name;
    settings.replaceChildren(...model.axes.map((axis, at) => report.element(
      "fieldset", { "data-axis": axis.name },
      report.element("legend", {}, axis.name),
      ...axis.values.map((value, place) => report.element(
        "label", {},
        report.element("input", { type: "checkbox", checked: true, name: at, value: place }),
        ` ${value}`)),
    )));
    const all = model.trials.map((trial) => trial.accuracy);
    least.placeholder = (Math.floor(10 * Math.min(...all)) / 10).toFixed(1);
    most.placeholder = (Math.ceil(10 * Math.max(...all)) / 10).toFixed(1);
  };
  const boxes = (at) => [...settings.querySelectorAll(`input[name="${at}"]`)];

  /** The trials that pass all filters. A limit holds for accuracies as the table rounds them. */
  const passing = () => {
    const open = model.axes.map((_, at) => new Set(
      boxes(at).filter((box) => box.checked).map((box) => Number(box.value))));
    const [low, high] = [least, most].map((input) => input.valueAsNumber);
    const text = key.value.trim().toLowerCase();
    return model.trials.filter((trial) => {
      const rounded = Number(trial.accuracy.toFixed(1));
      return trial.at.every((value, at) => open[at].has(value))
        && !(rounded < low) && !(rounded > high)
        && trial.key.toLowerCase().includes(text);
    });
  };
  const update = () => {
    shown = passing();
    chart.show(model, shown);
    table.show(model, shown);
    part("count").textContent = `${shown.length} of ${model.trials.length} trials`;
    focus(null);
  };

  // A view can be linked to: its filters stand in the address.
  const written = () => {
    const asked = new URLSearchParams();
    if (model !== models[0]) asked.set("model", model.name);
    model.axes.forEach((axis, at) => {
      const ticked = boxes(at).filter((box) => box.checked);
      if (ticked.length === axis.values.length) return;
      asked.set(`only.${axis.name}`, ticked.map((box) => axis.values[box.value]).join(","));
    });
    for (const input of [least, most, key]) {
      if (input.value) asked.set(input.id.replace("trials-", ""), input.value);
    }
    const text = asked.toString();
    if (text || location.hash.startsWith(PREFIX)) {
      history.replaceState(null, "", text ? PREFIX + text : "#trials");
    }
  };
  const read = () => {
    const found = location.hash.startsWith(PREFIX);
    const asked = new URLSearchParams(found ? location.hash.slice(PREFIX.length) : "");
    model = models.find(({ name }) => name === asked.get("model")) ?? models[0];
    offer();
    model.axes.forEach((axis, at) => {
      const only = asked.get(`only.${axis.name}`)?.split(",");
      if (!only) return;
      for (const box of boxes(at)) box.checked = only.includes(axis.values[box.value]);
    });
    for (const input of [least, most, key]) {
      input.value = asked.get(input.id.replace("trials-", "")) ?? "";
    }
    update();
    if (found) report.arrive(document.getElementById("trials"));
  };

  picker.append(...models.map(({ name, title, trials }) => report.element(
    "option", { value: name }, `${title} (${trials.length})`)));
  const changed = () => {
    update();
    written();
  };
  picker.addEventListener("change", () => {
    model = models.find(({ name }) => name === picker.value);
    kept = null;
    offer();
    changed();
  });
  for (const input of [least, most, key]) input.addEventListener("input", changed);
  settings.addEventListener("change", changed);
  part("filters").addEventListener("submit", (event) => event.preventDefault());
  part("filters").addEventListener("reset", (event) => {
    event.preventDefault(); // it would choose the first model, too
    for (const input of [least, most, key]) input.value = "";
    kept = null;
    offer();
    changed();
  });
  window.addEventListener("hashchange", () => {
    if (location.hash.startsWith(PREFIX)) read();
  });
  read();
})();
