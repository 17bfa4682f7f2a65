"use strict";
// What browsers of traced examples share: how right and wrong are told, and buttons and keys.

(() => {
  const element = report.element;
  const kind = (right) => (right ? "judged good" : "judged bad");

  /** `entailment ✓ right`: an answer, and whether it is right, in words and by a mark. */
  report.judged = (said, right) =>
    element(
      "span",
      { class: kind(right) },
      said,
      element("span", { class: "mark" }, right ? " ✓ right" : " ✗ wrong"),
    );

  /** The same mark where there is little room; its word is for those who hear it. */
  report.mark = (right) =>
    element(
      "span",
      { class: kind(right), title: right ? "right" : "wrong" },
      element("span", { class: "mark", "aria-hidden": "true" }, right ? "✓" : "✗"),
      element("span", { class: "hidden" }, right ? "right" : "wrong"),
    );

  /** Put an address into the link of what is shown, and into the browser's own line. */
  report.remember = (link, address) => {
    link.href = address;
    try {
      history.replaceState(null, "", address);
    } catch { /* a browser that forbids it for files: the link is there still */ }
  };

  /** Show in buttons, slider and the rows of `box` which of `count` steps is wanted; the nearest. */
  report.step = (at, box, wanted, count) => {
    const step = Math.min(Math.max(Math.trunc(wanted) || 0, 0), count - 1);
    at("step").value = step + 1;
    at("at").textContent = `Step ${step + 1} of ${count}`;
    at("back").disabled = step === 0;
    at("on").disabled = step === count - 1;
    for (const row of box.querySelectorAll("tr[data-step]")) {
      if (Number(row.dataset.step) === step) row.setAttribute("aria-current", "step");
      else row.removeAttribute("aria-current");
    }
    return step;
  };

  /**
   * Let a reader steer. at(name): an element of the browser. results: its list. filter(): show what
   * fits. follow(): show what the address names. any(): something is found. to(step), by(steps): go
   * to a step, or some steps on.
   */
  report.steer = ({ at, browser, form, results, filter, follow, any, to, by }) => {
    form.addEventListener("input", filter);
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () => setTimeout(filter));
    at("previous").addEventListener("click", () => results.move(-1));
    at("next").addEventListener("click", () => results.move(1));
    at("back").addEventListener("click", () => by(-1));
    at("on").addEventListener("click", () => by(1));
    at("step").addEventListener("input", () => to(Number(at("step").value) - 1));
    for (const part of ["rows", "maps"]) {
      at(part).addEventListener("click", (event) => {
        const row = event.target.closest("tr[data-step]");
        if (row) to(Number(row.dataset.step));
      });
    }
    window.addEventListener("hashchange", follow);
    browser.addEventListener("keydown", (event) => {
      const typing = event.target.closest("input, select, .frame"); // these have keys of their own
      if (typing || event.ctrlKey || event.metaKey || event.altKey || !any()) return;
      const inList = event.target === at("list");
      const act = {
        j: () => results.move(1),
        k: () => results.move(-1),
        ArrowDown: inList && (() => results.move(1)),
        ArrowUp: inList && (() => results.move(-1)),
        ArrowRight: () => by(1),
        ArrowLeft: () => by(-1),
      }[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    });
    filter();
    follow();
  };
})();
