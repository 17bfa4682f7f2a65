"use strict";
// Draws the charts near the viewport first, then the others one by one.

const element = (tag, attributes = {}, ...children) => {
  const created = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== false) created.setAttribute(name, value === true ? "" : value);
  }
  created.append(...children);
  return created;
};
const embeddedData = (id) => JSON.parse(document.getElementById(id)?.textContent ?? "null");

(() => {
  const options = { renderer: "svg", actions: false, tooltip: { disableDefaultStyle: true } };
  const draw = async (figure) => {
    near.unobserve(figure);
    if (figure.dataset.drawn) return;
    figure.dataset.drawn = "started";
    const target = figure.querySelector(".chart");
    try {
      await vegaEmbed(target, embeddedData(`chart-${figure.dataset.chart}`), options);
      target.style.minHeight = "";
      figure.dataset.drawn = "true";
    } catch (error) {
      target.textContent = `Error: cannot draw this chart: ${error.message}`;
      figure.dataset.drawn = "failed";
    }
  };
  const near = new IntersectionObserver(
    (entries) => entries.filter((entry) => entry.isIntersecting).forEach((entry) => draw(entry.target)),
    { rootMargin: "600px" },
  );
  const figures = document.querySelectorAll("figure[data-chart]");
  figures.forEach((figure) => near.observe(figure));
  window.addEventListener("beforeprint", () => {
    document.querySelectorAll("details").forEach((part) => { part.open = true; });
    figures.forEach(draw);
  });
  const idle = window.requestIdleCallback ?? ((next) => setTimeout(next, 50));
  const others = [...figures];
  const drawNext = async () => {
    const figure = others.shift();
    if (figure) { await draw(figure); idle(drawNext); }
  };
  window.addEventListener("load", () => idle(drawNext));

  // Open the contents on wide screens, fold them on narrow ones.
  const contents = document.getElementById("contents");
  const wide = window.matchMedia("(min-width: 1200px)");
  const fold = () => { contents.open = wide.matches; };
  wide.addEventListener("change", fold);
  fold();
})();
