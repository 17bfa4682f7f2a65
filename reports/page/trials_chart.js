"use strict";
// Parallel coordinates of trials: where each line meets each axis, and which one is in focus.

report.trialsChart = (() => {
  const SPREAD = 0.72; // share of a value's band that its lines take
  const ROW = 64; // pixels of an axis that lies
  const percent = (value) => value.toFixed(1);
  const steps = (value) => value.toFixed(2);

  /** Where the trials of a model meet the axis of a setting, by their rank within each value. */
  const setting = (axis, at, trials) => {
    const count = axis.values.length;
    const places = new Map();
    axis.values.forEach((_, value) => {
      const same = trials.filter((trial) => trial.at[at] === value);
      same.sort((one, other) => one.accuracy - other.accuracy);
      same.forEach((trial, rank) => {
        const within = ((rank + 0.5) / same.length - 0.5) * SPREAD;
        places.set(trial, (value + 0.5 + within) / count);
      });
    });
    const bands = axis.values.map((_, value) => [
      (value + 0.5 - SPREAD / 2) / count, (value + 0.5 + SPREAD / 2) / count,
    ]);
    const ticks = axis.values.map((label, value) => ({ label, place: (value + 0.5) / count }));
    return { name: axis.name, places, bands, ticks };
  };

  /** The axis of a measured figure, from its smallest to its largest. */
  const measure = (name, field, worded, trials) => {
    const known = trials.filter((trial) => trial[field] !== null);
    const values = known.map((trial) => trial[field]);
    const least = Math.min(...values);
    const range = Math.max(...values) - least || 1;
    const places = new Map(known.map((trial) => [trial, (trial[field] - least) / range]));
    const ends = Math.max(...values) > least ? [0, 0.25, 0.5, 0.75, 1] : [0];
    const ticks = ends.map((place) => ({ place, label: worded(least + place * range) }));
    return { name, places, bands: [[0, 1]], ticks };
  };

  const axesOf = ({ axes, trials }) => [
    ...axes.map((axis, at) => setting(axis, at, trials)),
    ...(trials.some((trial) => trial.steps !== null)
      ? [measure("mean steps", "steps", steps, trials)] : []),
    measure("dev accuracy, %", "accuracy", percent, trials),
  ];

  /** What a trial is, in words; a line for each fact. */
  const said = (model, trial) => [
    `trial ${trial.key}${trial.chosen ? " (chosen)" : ""}${trial.diverged ? " (diverged)" : ""}`,
    ...model.axes.map((axis, at) => `${axis.name} ${axis.values[trial.at[at]]}`),
    `dev accuracy ${percent(trial.accuracy)} %`,
    ...(trial.steps === null ? [] : [`mean steps ${steps(trial.steps)}`]),
    `best epoch ${trial.epoch}`,
  ];

  /**
   * A chart in an element. show(model, trials) draws these trials of a model, focus(trial) brings
   * one out, or none if null; pointed(key) is called for the line under the pointer, or null.
   */
  const chart = (target, specs, pointed) => {
    const narrow = window.matchMedia("(max-width: 700px)");
    const tip = report.element("div", { id: "trials-tip", class: "tip", hidden: true });
    document.body.append(tip);
    let view = null;
    let model = null;
    let axes = [];
    let shown = [];
    let focused = null;

    const line = (trial) => {
      const colour = axes.at(-1).places.get(trial);
      return axes.flatMap(({ name, places }, at) => (places.has(trial) ? [{
        trial: trial.key, axis: name, at, place: places.get(trial), colour,
      }] : []));
    };
    const lines = () => shown.flatMap(line);
    const brought = () => (focused ? line(focused) : []);

    const specification = () => {
      const spec = specs[narrow.matches ? "narrow" : "wide"];
      const all = model.trials.map((trial) => trial.accuracy);
      const ends = { least: Math.min(...all), most: Math.max(...all) };
      return {
        ...spec,
        height: narrow.matches ? ROW * axes.length : spec.height,
        params: spec.params.map((param) => ({ ...param, value: ends[param.name] })),
        datasets: {
          axes: axes.flatMap(({ name, bands }) => bands.map(
            ([from, to]) => ({ axis: name, from, to }))),
          ticks: axes.flatMap(({ name, ticks }) => ticks.map((tick) => ({ axis: name, ...tick }))),
          lines: lines(),
          focused: brought(),
        },
      };
    };
    /** The words of the line under the pointer, beside it and inside the window. */
    const tell = ({ clientX, clientY }, item) => {
      const trial = model.trials.find(({ key }) => key === item?.datum?.trial);
      tip.hidden = !trial;
      if (!trial) return;
      tip.textContent = said(model, trial).join("\n");
      const { offsetWidth: width, offsetHeight: height } = tip;
      tip.style.left = `${Math.max(4, Math.min(clientX + 14, window.innerWidth - width - 8))}px`;
      tip.style.top = `${clientY + 14 + height < window.innerHeight
        ? clientY + 14 : Math.max(4, clientY - height - 14)}px`;
    };
    const embed = async () => {
      view?.finalize();
      view = null;
      const made = await report.charts.embed(target, specification());
      view = made;
      view.addEventListener("mouseover", (_, item) => pointed(item?.datum?.trial ?? null));
      view.addEventListener("mousemove", tell);
      view.addEventListener("mouseout", () => {
        tip.hidden = true;
        pointed(null);
      });
      await view.data("lines", lines()).data("focused", brought()).runAsync();
      target.dataset.drawn = "true";
    };
    report.charts.whenNear(target, () => {
      narrow.addEventListener("change", embed);
      return embed();
    });
    return {
      show(next, trials) {
        shown = trials;
        if (next === model) {
          view?.data("lines", lines()).runAsync();
          return;
        }
        model = next;
        axes = axesOf(model);
        if (view) embed();
      },
      focus(trial) {
        focused = trial;
        view?.data("focused", brought()).runAsync();
      },
    };
  };

  return { chart, said };
})();
