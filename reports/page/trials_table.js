"use strict";
// The table of trials: sorted by any column, the first rows or all of them, walked with the arrows.

report.trialsTable = (() => {
  const FIRST = 50;
  const fixed = (digits) => (value) => (value === null ? "–" : value.toFixed(digits));

  /** Columns of a model's table: heading, what a row sorts by, and the text of a cell. */
  const columnsOf = (model) => {
    const setting = (axis, at) => ({
      name: axis.name, value: (trial) => trial.at[at], text: (place) => axis.values[place],
    });
    const figure = (name, field, text) => ({ name, value: (trial) => trial[field], text });
    const steps = model.trials.some((trial) => trial.steps !== null);
    return [
      { name: "key", value: (trial) => trial.key, text: String, words: true },
      ...model.axes.map(setting),
      figure("dev accuracy, %", "accuracy", fixed(1)),
      figure("dev loss, nats", "loss", fixed(3)),
      ...(steps ? [figure("mean steps", "steps", fixed(2))] : []),
      figure("best epoch", "epoch", String),
      ...(model.axes.some((axis) => axis.name === "seed") ? [] : [figure("seed", "seed", String)]),
      {
        name: "remark",
        value: (trial) => (trial.chosen ? "chosen" : trial.diverged ? "diverged" : null),
        text: (value) => value ?? "–",
        words: true,
      },
    ];
  };
  const key = (value) => {
    if (value === null) return [2];
    return typeof value === "number" ? [0, value] : [1, value];
  };

  /**
   * A table in an element; `more` is the button that shows all rows.
   * show(model, trials) shows trials of a model, mark(key, reveal) brings out a row;
   * chosen(key) is called when a row is chosen, or null for none.
   */
  return (frame, more, chosen) => {
    let model = null;
    let columns = [];
    let trials = [];
    let order = { column: 0, direction: 0 };
    let all = false;
    let body = null;

    const row = (trial) => {
      const made = report.element("tr", { tabindex: "-1", "data-key": trial.key });
      for (const { value, text, words } of columns) {
        made.append(report.element("td", { class: words ? null : "number" }, text(value(trial))));
      }
      return made;
    };
    const fill = () => {
      const { value } = columns[order.column];
      const sorted = [...trials];
      if (order.direction) {
        sorted.sort((one, other) => report.sorting.compare(
          key(value(one)), key(value(other)), order.direction));
      }
      const shown = all ? sorted : sorted.slice(0, FIRST);
      body.replaceChildren(...shown.map(row));
      if (body.rows.length) body.rows[0].tabIndex = 0;
      more.hidden = shown.length === sorted.length;
      more.textContent = `Show all ${sorted.length} trials`;
    };
    const head = () => {
      const cells = columns.map(({ name, words }) => report.element(
        "th", { scope: "col", class: words ? null : "number" }, name));
      const names = report.element("tr", {}, ...cells);
      body = report.element("tbody");
      const caption = report.element("caption", { class: "hidden" }, `Trials of ${model.title}`);
      frame.replaceChildren(report.element(
        "table", {}, caption, report.element("thead", {}, names), body));
      report.sorting.sortable(names, (column, direction) => {
        order = { column, direction };
        fill();
      });
      const best = columns.findIndex(({ name }) => name.startsWith("dev accuracy"));
      order = { column: best, direction: -1 };
      cells[best].setAttribute("aria-sort", "descending");
    };
    const rowOf = (event) => event.target.closest("tbody tr");
    const goTo = (next) => {
      if (!next) return;
      for (const other of body.rows) other.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    };
    frame.addEventListener("focusin", (event) => {
      if (rowOf(event)) chosen(rowOf(event).dataset.key);
    });
    frame.addEventListener("click", (event) => goTo(rowOf(event)));
    frame.addEventListener("keydown", (event) => {
      const now = rowOf(event);
      if (!now) return;
      const places = {
        ArrowDown: now.nextElementSibling,
        ArrowUp: now.previousElementSibling,
        Home: body.rows[0],
        End: body.rows[body.rows.length - 1],
      };
      if (event.key === "Escape") chosen(null);
      else if (event.key in places) goTo(places[event.key]);
      else return;
      event.preventDefault();
    });
    more.addEventListener("click", () => {
      all = true;
      const next = body.rows.length;
      fill();
      goTo(body.rows[next]);
    });

    return {
      show(next, some) {
        if (next !== model) {
          model = next;
          columns = columnsOf(model);
          all = false;
          head();
        }
        trials = some;
        fill();
      },
      mark(name, reveal) {
        for (const other of body.rows) {
          const here = other.dataset.key === name;
          other.classList.toggle("focused", here);
          if (here && reveal) {
            const { offsetTop: top, offsetHeight: height } = other;
            if (top < frame.scrollTop + 48 || top + height > frame.scrollTop + frame.clientHeight) {
              frame.scrollTop = top - frame.clientHeight / 2;
            }
          }
        }
      },
    };
  };
})();
