"use strict";
// What all parts of the page share (`report`), the choice of colours, and the list of contents.

const report = {
  /** The value that the page holds under a name: of an island, or a chart with its whole name. */
  data: (id) => JSON.parse(document.getElementById(id).textContent),

  /** An element with attributes and children; text stays text. */
  element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value !== null && value !== undefined && value !== false) {
        made.setAttribute(name, value === true ? "" : value);
      }
    }
    made.append(...children);
    return made;
  },

  /** A listener that runs once before the next frame, however often it is called until then. */
  soon(run) {
    let waiting = false;
    return () => {
      if (!waiting) {
        requestAnimationFrame(() => {
          waiting = false;
          run();
        });
      }
      waiting = true;
    };
  },

  /** Run tasks one by one while the browser has nothing else to do. */
  idle(tasks) {
    const later = window.requestIdleCallback ?? ((run) => setTimeout(run, 20));
    const next = () => {
      const task = tasks.shift();
      if (!task) return;
      Promise.resolve(task()).finally(() => later(next, { timeout: 200 }));
    };
    later(next, { timeout: 200 });
  },
};

// Charts that are drawn later push down what an address leads to: it stays at the top of the window
// until the reader does something, or all are drawn.
(() => {
  let wanted = null;
  const stay = () => wanted?.scrollIntoView();
  const growth = new ResizeObserver(stay);
  growth.observe(document.querySelector("main"));
  for (const type of ["wheel", "touchstart", "pointerdown", "pointermove", "keydown"]) {
    window.addEventListener(type, () => report.settle(), { once: true, capture: true });
  }

  /** Bring an element to the top of the window, and keep it there until `settle`. */
  report.arrive = (element) => {
    wanted = element;
    stay();
  };
  report.settle = () => growth.disconnect();
  const named = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (named) report.arrive(named);
})();

(() => {
  const root = document.documentElement;
  const button = document.getElementById("theme");
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (root.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";
  const name = () => {
    button.textContent = dark() ? "Light colours" : "Dark colours";
  };
  button.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    try {
      localStorage.setItem("act-nli-theme", root.dataset.theme);
    } catch { /* no storage: until the page is closed */ }
    name();
  });
  system.addEventListener("change", name);
  button.hidden = false;
  name();
})();

(() => {
  const contents = document.getElementById("contents");
  const beside = window.matchMedia("(min-width: 1100px)");
  const fit = () => {
    contents.open = beside.matches;
  };
  beside.addEventListener("change", fit);
  fit();
  const links = [...contents.querySelectorAll("a")];
  contents.addEventListener("click", (event) => {
    if (!beside.matches && event.target.closest("a")) contents.open = false;
  });

  // The section that is being read: the last one that begins near the top, or above it.
  const LINE = 100; // pixels from the top
  const tops = links.map((link) => document.getElementById(link.hash.slice(1)));
  const mark = () => {
    let at = -1;
    tops.forEach((top, index) => {
      if (top.getBoundingClientRect().top < LINE) at = index;
    });
    links.forEach((link, index) => {
      if (index === at) link.setAttribute("aria-current", "location");
      else link.removeAttribute("aria-current");
    });
  };
  const soon = report.soon(mark);
  document.addEventListener("scroll", soon, { passive: true });
  soon();
})();
