"use strict";
// A browser of traced examples: filters, the list of what they find, and the one that is chosen.

/** What fits a form's choices, in the order asked for. An empty choice fits all; each word of the
    search begins one of an item's `words`, or is part of its `title`. */
report.find = (items, { search, order, ...choices }, orders = {}) => {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const wanted = Object.entries(choices)
    .filter(([, value]) => value !== "")
    .map(([name, value]) => [name, Number(value)]);
  const found = items.filter((item) =>
    wanted.every(([name, value]) => Number(item[name]) === value)
    && words.every((word) => item.words.includes(` ${word}`) || item.title.includes(word)));
  return orders[order] ? found.sort(orders[order]) : found;
};

/**
 * Bring the browser `name` to life, whose elements are those of page_browser.html.
 * items: what there is to find, with `run` and what `report.find` reads. orders: how it may be
 * sorted. row(item): two lines of the list, what was answered, whether it is right, and more.
 * summary(found): a sentence. key, id(item): the item's name in the address; runs: whether its run
 * belongs to it. missing(id): what is said of one that is not there. open(item): all of it, its steps
 * among it. parts: by the name of an element, what is drawn there; words: the same, at a step.
 */
report.browse = (name, { items, orders, row, summary, key, id, runs, missing, open, parts, words }) => {
  const at = (part) => document.getElementById(`${name}-${part}`);
  const [browser, form, box] = ["browser", "filters", "one"].map(at);
  let found = items;
  let chosen = null; // the item whose steps are drawn
  let one = null; // the same, opened
  let step = 0;

  const address = () => {
    const named = new URLSearchParams({ [key]: id(chosen) });
    if (runs) named.set("run", chosen.run + 1);
    if (step) named.set("step", step + 1);
    return `#${named}`;
  };
  /** Put the address into the link of what is shown, and into the browser's own line. */
  const remember = () => {
    at("link").href = address();
    try {
      history.replaceState(null, "", address());
    } catch { /* a browser that forbids it for files: the link is there still */ }
  };

  /** Show the step that is wanted, or the nearest, in words, buttons, slider and rows. */
  const drawStep = (wanted) => {
    const count = one.steps.length;
    step = Math.min(Math.max(Math.trunc(wanted) || 0, 0), count - 1);
    at("step").value = step + 1;
    at("at").textContent = `Step ${step + 1} of ${count}`;
    at("back").disabled = step === 0;
    at("on").disabled = step === count - 1;
    for (const line of box.querySelectorAll("tr[data-step]")) {
      if (Number(line.dataset.step) === step) line.setAttribute("aria-current", "step");
      else line.removeAttribute("aria-current");
    }
    at("words").replaceChildren(...words(one, step));
  };
  const draw = (item, wanted) => {
    chosen = item;
    one = open(item);
    box.hidden = false;
    for (const [part, nodes] of Object.entries(parts)) at(part).replaceChildren(...nodes(one));
    at("step").max = one.steps.length;
    drawStep(wanted);
    at("link").href = address();
    at("previous").disabled = results.place() === 0;
    at("next").disabled = results.place() === found.length - 1;
  };
  const toStep = (wanted) => {
    drawStep(wanted);
    remember();
  };

  const lines = (item) => {
    const [first, second, said, right, more] = row(item);
    const line = (classes, ...text) => report.element("span", { class: classes }, ...text);
    const answer = [`${said} `, report.steps.mark(right), ` · ${more}`];
    return [line("line", first), line("line muted", second), line("line small", ...answer)];
  };
  const results = report.list(at("list"), lines, (item) => {
    draw(item, 0);
    remember();
  });

  const search = () => {
    found = report.find(items, Object.fromEntries(new FormData(form)), orders);
    at("found").textContent = summary(found);
  };
  /** Show what fits the filters; the chosen item stays if it does, else the first is drawn. */
  const filter = () => {
    search();
    const place = found.indexOf(chosen);
    results.show(found, place < 0 && found.length ? 0 : place);
    if (!found.length) box.hidden = true;
    else draw(found[Math.max(place, 0)], place < 0 ? 0 : step);
  };
  /** Show the item that the address names, if it names one. */
  const follow = () => {
    const named = new URLSearchParams(location.hash.slice(1));
    if (!named.has(key)) return;
    const run = Number(named.get("run") ?? 1) - 1;
    const item = items.find((other) => id(other) === named.get(key) && other.run === run);
    if (!item) {
      at("found").textContent = missing(named.get(key));
      return;
    }
    if (results.place() < 0 || chosen !== item) {
      form.reset();
      search();
      results.show(found, found.indexOf(item));
    }
    draw(item, Number(named.get("step") ?? 1) - 1);
    report.arrive(browser);
  };

  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(filter));
  const press = {
    previous: () => results.move(-1),
    next: () => results.move(1),
    back: () => toStep(step - 1),
    on: () => toStep(step + 1),
  };
  for (const [button, act] of Object.entries(press)) at(button).addEventListener("click", act);
  at("step").addEventListener("input", () => toStep(Number(at("step").value) - 1));
  for (const part of ["rows", "maps"]) {
    at(part).addEventListener("click", (event) => {
      const line = event.target.closest("tr[data-step]");
      if (line) toStep(Number(line.dataset.step));
    });
  }
  window.addEventListener("hashchange", follow);
  browser.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input, select, .frame"); // these have keys of their own
    if (typing || event.ctrlKey || event.metaKey || event.altKey || !found.length) return;
    const inList = event.target === at("list");
    const act = {
      j: press.next,
      k: press.previous,
      ArrowDown: inList && press.next,
      ArrowUp: inList && press.previous,
      ArrowRight: press.on,
      ArrowLeft: press.back,
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
  filter();
  follow();
};
