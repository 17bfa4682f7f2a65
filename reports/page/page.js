"use strict";
// Draws each chart when it comes near the window, and all of them before the page is printed.

const element = (tag, attributes = {}, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children);
  return made;
};
const embeddedData = (id) => JSON.parse(document.getElementById(id)?.textContent ?? "null");

(() => {
  const options = { renderer: "svg", actions: false, tooltip: { disableDefaultStyle: true } };
  const draw = async (figure) => {
    near.unobserve(figure);
    if (figure.dataset.drawn) return;
    figure.dataset.drawn = "begun";
    const target = figure.querySelector(".chart");
    try {
      await vegaEmbed(target, embeddedData(`chart-${figure.dataset.chart}`), options);
      target.style.minHeight = "";
      figure.dataset.drawn = "true";
    } catch (error) {
      target.textContent = `This chart could not be drawn: ${error.message}`;
      figure.dataset.drawn = "failed";
    }
  };
  const near = new IntersectionObserver(
    (seen) => seen.filter((one) => one.isIntersecting).forEach((one) => draw(one.target)),
    { rootMargin: "600px" },
  );
  const figures = document.querySelectorAll("figure[data-chart]");
  figures.forEach((figure) => near.observe(figure));
  window.addEventListener("beforeprint", () => figures.forEach(draw));

  // The list of contents is open beside the text, and folded above it where there is no room.
  const contents = document.getElementById("contents");
  const wide = window.matchMedia("(min-width: 1200px)");
  const fold = () => { contents.open = wide.matches; };
  wide.addEventListener("change", fold);
  fold();
})();
