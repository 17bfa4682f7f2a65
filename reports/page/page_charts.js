"use strict";
// Charts are drawn when they come near, and the others when the browser has time for them.

(() => {
  const OPTIONS = {
    renderer: "svg",
    actions: false, // the menu would lead to an editor outside of this page
    tooltip: { disableDefaultStyle: true },
  };

  /** Draw a specification inside an element, whose own role and label stay; its view, later. */
  const embed = async (target, spec) => {
    const inner = report.element("div");
    target.replaceChildren(inner);
    return (await vegaEmbed(inner, spec, OPTIONS)).view;
  };

  /** A specification with every var(--name) replaced by the colour it has now. */
  const coloured = (spec) => {
    const probe = report.element("span", { hidden: true });
    document.body.append(probe);
    const text = JSON.stringify(spec).replace(/var\(--[\w-]+\)/g, (name) => {
      probe.style.color = name;
      return getComputedStyle(probe).color;
    });
    probe.remove();
    return JSON.parse(text);
  };

  /** Save a chart as it looks now, as "svg" or "png". */
  const save = async (figure, type) => {
    const surface = getComputedStyle(document.body).backgroundColor;
    const spec = { ...coloured(report.data(`chart-${figure.dataset.figure}`)), background: surface };
    const stage = report.element("div", { class: "chart stage" });
    stage.style.width = `${figure.querySelector(".chart").clientWidth}px`;
    document.body.append(stage);
    const view = await embed(stage, spec);
    const href = await view.toImageURL(type, type === "png" ? 2 : 1);
    view.finalize();
    stage.remove();
    report.element("a", { href, download: `${figure.dataset.figure}.${type}` }).click();
  };

  const MOST = 400;
  const dataTable = (rows, caption) => {
    const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
    const cell = (value) => {
      if (typeof value === "number") return String(Number(value.toPrecision(6)));
      return value === null || value === undefined ? "–" : String(value);
    };
    const table = report.element(
      "table", {},
      report.element("caption", {}, caption),
      report.element("thead", {}, report.element(
        "tr", {}, ...names.map((name) => report.element("th", { scope: "col" }, name)))),
      report.element("tbody", {}, ...rows.slice(0, MOST).map((row) => report.element(
        "tr", {}, ...names.map((name) => report.element(
          "td", { class: typeof row[name] === "number" && "number" }, cell(row[name])))))),
    );
    const attributes = { class: "scroll", role: "region", tabindex: "0", "aria-label": caption };
    return report.element("div", attributes, table);
  };

  /** Fill what stands behind a chart when it is opened for the first time. */
  const behind = (figure) => {
    const details = figure.querySelector(".behind");
    details.addEventListener("toggle", () => {
      const spec = report.data(`chart-${figure.dataset.figure}`);
      const saving = ["svg", "png"].map((type) => {
        const text = `Save as ${type.toUpperCase()}`;
        const button = report.element("button", { type: "button" }, text);
        button.addEventListener("click", () => save(figure, type));
        return button;
      });
      details.append(report.element("p", { class: "tools" }, ...saving));
      const found = Object.values(spec.datasets ?? {}).filter((rows) => rows.length);
      found.sort((one, other) => other.length - one.length); // what is drawn, then its frame
      found.forEach((rows, at, all) => {
        const part = all.length > 1 ? ` (part ${at + 1} of ${all.length})` : "";
        const kept = rows.length > MOST ? `first ${MOST} of ${rows.length} rows` : "";
        details.append(dataTable(rows, `Data of this chart${part}${kept && `: ${kept}`}`));
      });
    }, { once: true });
  };

  const draw = async (figure) => {
    const target = figure.querySelector(".chart");
    try {
      await embed(target, report.data(`chart-${figure.dataset.figure}`));
      figure.dataset.drawn = "true";
    } catch (error) {
      const why = `This chart could not be drawn (${error.message}); its words and data follow below.`;
      target.replaceChildren(report.element("p", { class: "note" }, why));
      target.setAttribute("role", "group");
      figure.dataset.drawn = "failed";
    }
    if (target.scrollWidth > target.clientWidth) target.tabIndex = 0; // scrolls by itself
  };

  const waiting = new Map(); // elements that are not drawn yet, with what draws them
  const start = (element) => {
    const run = waiting.get(element);
    waiting.delete(element);
    near.unobserve(element);
    return run?.();
  };
  const near = new IntersectionObserver((seen) => {
    seen.filter((one) => one.isIntersecting).forEach((one) => start(one.target));
  }, { rootMargin: "400px" });

  /** Run what draws an element when it comes near, or there is time, or the page is printed. */
  const whenNear = (element, run) => {
    waiting.set(element, run);
    near.observe(element);
  };
  window.addEventListener("load", () => {
    const tasks = [...waiting.keys()].map((element) => () => start(element));
    report.idle([...tasks, () => report.settle()]);
  });
  window.addEventListener("beforeprint", () => [...waiting.keys()].forEach(start));

  report.charts = { embed, whenNear };

  for (const figure of document.querySelectorAll("figure[data-figure]")) {
    behind(figure);
    whenNear(figure, () => draw(figure));
  }
})();
