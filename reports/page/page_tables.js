"use strict";
// Tables sort by any column: up, down, and as they were.

(() => {
  const NUMBER = /^[<>≤≥~]?\s*([+-]?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?)([kMB]?)(?![\w.])/;
  const TIMES = { "": 1, k: 1e3, M: 1e6, B: 1e9 };
  const MISSING = new Set(["", "–", "n/a", "none"]);
  const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

  /** What a cell sorts by: [0, number] < [1, text] < [2]; "72.0 ± 0.47" is 72, "3.7M" 3700000. */
  const key = (text) => {
    const plain = text.trim().replace(/^−/, "-");
    if (MISSING.has(plain)) return [2];
    const found = NUMBER.exec(plain);
    if (!found) return [1, plain];
    return [0, Number(found[1].replaceAll(",", "")) * TIMES[found[2]]];
  };

  /** Compare two keys; direction is 1 or -1, and what is missing stays last either way. */
  const compare = (one, other, direction) => {
    if (one[0] !== other[0]) {
      return one[0] === 2 || other[0] === 2 ? one[0] - other[0] : direction * (one[0] - other[0]);
    }
    if (one[0] === 2) return 0;
    return direction * (one[0] === 0 ? one[1] - other[1] : collator.compare(one[1], other[1]));
  };

  const STEPS = { none: "ascending", ascending: "descending", descending: "none" };

  /**
   * Give the header cells of a row buttons that sort.
   * sort(column, direction): order the rows; direction is 1, -1, or 0 for the first order.
   */
  const sortable = (row, sort) => {
    const cells = [...row.cells];
    cells.forEach((cell, column) => {
      const button = report.element("button", { type: "button", class: "sort" });
      button.append(...cell.childNodes);
      cell.append(button);
      cell.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => {
        const now = STEPS[cell.getAttribute("aria-sort")];
        for (const other of cells) other.setAttribute("aria-sort", "none");
        cell.setAttribute("aria-sort", now);
        sort(column, { none: 0, ascending: 1, descending: -1 }[now]);
      });
    });
  };

  report.sorting = { key, compare, sortable };

  for (const table of document.querySelectorAll("main .scroll > table")) {
    const body = table.tBodies[0];
    if (!body || body.rows.length < 2) continue;
    const rows = [...body.rows];
    sortable(table.tHead.rows[0], (column, direction) => {
      const keyed = rows.map((row) => [key(row.cells[column].textContent), row]);
      if (direction) keyed.sort(([one], [other]) => compare(one, other, direction));
      body.append(...keyed.map(([, row]) => row));
    });
  }
})();
