"use strict";
// One traced example as elements: what is told of it, its words at a step, its steps, their maps.

(() => {
  const element = report.element;
  const percent = (share) => (100 * share).toFixed(1);
  const hidden = (text) => element("span", { class: "hidden" }, text);
  const kind = (right) => (right ? "judged good" : "judged bad");
  const part = (made, share) => {
    made.style.setProperty("--part", share.toFixed(3));
    return made;
  };

  /** `entailment ✓ right`: an answer, and whether it is right, in words and by a mark. */
  const judged = (said, right) =>
    element(
      "span",
      { class: kind(right) },
      said,
      element("span", { class: "mark" }, right ? " ✓ right" : " ✗ wrong"),
    );

  /** The same mark where there is little room; its word is for those who hear it. */
  const mark = (right) =>
    element(
      "span",
      { class: kind(right), title: right ? "right" : "wrong" },
      element("span", { class: "mark", "aria-hidden": "true" }, right ? "✓" : "✗"),
      hidden(right ? "right" : "wrong"),
    );

  /** A heading, what the steps did, and pairs of a term and what is said of it. */
  const verdict = (title, effect, terms) => {
    const rows = terms.map(([term, said]) =>
      element("div", {}, element("dt", {}, term), element("dd", {}, said)),
    );
    return [
      element("h3", { class: "id" }, title),
      element("p", { class: "effect" }, `${effect}.`),
      element("dl", { class: "facts" }, ...rows),
    ];
  };

  /** A word with its share as a shade (or `shade` in its place) and a number, unless it is silent. */
  const word = (text, share, { told, shade = share, classes = "word", silent = false }) =>
    part(element(
      "span",
      { class: classes, title: `${text}: ${percent(share)} % ${told}` },
      element("span", { class: "token" }, text),
      hidden(" "),
      element("small", {}, silent ? "–" : percent(share)),
      hidden(silent ? " " : " % "),
    ), shade);

  /** A cell of the table of steps. */
  const cell = (content, classes, name = null) =>
    element("td", { class: classes, "data-name": name, role: "cell" }, ...[content].flat());

  /** A share as a bar with its number. */
  const bar = (share, name, classes = "") => part(cell([
    element("span", { class: "length" }),
    element("span", { class: "value" }, percent(share)),
  ], `bar ${classes}`, name), share);

  /** The table of the steps, with a button that names each; `last` are the cells of the answer. */
  const table = (classes, caption, names, steps, last = null) => {
    const line = (name, cells) =>
      element("tr", { role: "row" }, element("th", { scope: "row", role: "rowheader" }, name), ...cells);
    const body = steps.map((cells, at) => {
      const row = line(element("button", { type: "button", class: "to" }, `Step ${at + 1}`), cells);
      row.dataset.step = at;
      return row;
    });
    if (last) {
      body.push(line("Answer", last));
      body.at(-1).className = "answer";
    }
    const columns = ["Step", ...names].map(
      (name) => element("th", { scope: "col", role: "columnheader" }, name));
    return element(
      "table",
      { class: `steps ${classes}`, role: "table" },
      element("caption", {}, caption),
      element("thead", { role: "rowgroup" }, element("tr", { role: "row" }, ...columns)),
      element("tbody", { role: "rowgroup" }, ...body),
    );
  };

  /**
   * All steps as a map: a row a step, a column a word, as in the figure 1 of the alternating
   * attention's paper. steps: of each the values and whether it is right. said(value): the value in
   * figures; shade(value): how strong its colour is. blank: the word that is asked for.
   */
  const map = (words, steps, { caption, said, told = said, shade, blank = null }) => {
    const columns = words.map((text) =>
      element("th", { scope: "col", class: text === blank ? "blank" : null }, element("span", {}, text)),
    );
    const body = steps.map(({ values, right }, at) => {
      const cells = values.map((value, place) => {
        const title = `Step ${at + 1}, ${words[place]}: ${told(value)}`;
        return part(element("td", { title }, hidden(said(value))), shade(value));
      });
      const row = element("tr", {}, element("th", { scope: "row" }, `${at + 1} `, mark(right)), ...cells);
      row.dataset.step = at;
      return row;
    });
    const made = element(
      "table",
      { class: "map" },
      element("caption", {}, caption),
      element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "Step"), ...columns)),
      element("tbody", {}, ...body),
    );
    const label = `${caption}. Scrolls sideways.`;
    return element("div", { class: "frame", role: "region", tabindex: 0, "aria-label": label }, made);
  };

  report.steps = { percent, judged, mark, verdict, word, cell, bar, table, map };
})();
