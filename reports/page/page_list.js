"use strict";
// A list of any length in which only the rows in sight are elements.

/**
 * Make `box`, an element with role listbox, such a list.
 * draw(item): the content of a row, as nodes. choose(item): told which one the reader picked.
 * Gives { show(items, at), move(by), place() }: other rows, the next or another row, which one.
 */
report.list = (box, draw, choose) => {
  const ROWS_BEYOND = 4; // drawn above and below what is in sight
  const height = 5 * parseFloat(getComputedStyle(document.documentElement).fontSize);
  const inner = report.element("div", { role: "presentation", class: "inner" });
  box.append(inner);
  let items = [];
  let chosen = -1;

  const row = (at) => {
    const made = report.element(
      "div",
      {
        role: "option",
        id: `${box.id}-${at}`,
        class: "row",
        "aria-selected": String(at === chosen),
        "aria-setsize": items.length,
        "aria-posinset": at + 1,
      },
      ...draw(items[at]),
    );
    made.style.height = `${height}px`;
    made.style.top = `${at * height}px`;
    made.dataset.at = at;
    return made;
  };

  const fill = () => {
    const first = Math.max(0, Math.floor(box.scrollTop / height) - ROWS_BEYOND);
    const beyond = Math.ceil((box.scrollTop + box.clientHeight) / height) + ROWS_BEYOND;
    const rows = [];
    for (let at = first; at < Math.min(items.length, beyond); at += 1) rows.push(row(at));
    // A reader's program follows this to the row that is chosen, which must be there.
    if (chosen >= 0 && (chosen < first || chosen >= beyond)) rows.push(row(chosen));
    inner.replaceChildren(...rows);
    if (chosen < 0) box.removeAttribute("aria-activedescendant");
    else box.setAttribute("aria-activedescendant", `${box.id}-${chosen}`);
  };

  const reveal = () => {
    const [top, bottom] = [chosen * height, (chosen + 1) * height];
    if (top < box.scrollTop) box.scrollTop = top;
    else if (bottom > box.scrollTop + box.clientHeight) box.scrollTop = bottom - box.clientHeight;
  };

  const pick = (at) => {
    if (!items.length) return;
    chosen = Math.min(Math.max(at, 0), items.length - 1);
    reveal();
    fill();
    choose(items[chosen]);
  };

  box.addEventListener("scroll", report.soon(fill), { passive: true });
  new ResizeObserver(fill).observe(box);
  box.addEventListener("click", (event) => {
    const picked = event.target.closest(".row");
    if (picked) pick(Number(picked.dataset.at));
  });
  const PAGE = () => Math.max(1, Math.floor(box.clientHeight / height) - 1);
  box.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const to = {
      Home: () => 0,
      End: () => items.length - 1,
      PageUp: () => chosen - PAGE(),
      PageDown: () => chosen + PAGE(),
    }[event.key];
    if (!to) return;
    event.preventDefault();
    pick(to());
  });

  return {
    show(others, at) {
      items = others;
      chosen = at;
      inner.style.height = `${items.length * height}px`;
      if (at < 0) box.scrollTop = 0;
      else reveal();
      fill();
    },
    move: (by) => pick(chosen + by),
    place: () => chosen,
  };
};
