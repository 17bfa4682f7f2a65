"use strict";
// The traced pairs: taken apart as far as finding them needs, and wholly when one is shown.

report.examples = {
  /** What a search goes through, pair by pair; `packed` in examples.py says what a text holds. */
  index: (data) =>
    data.pairs.map((text, at) => {
      const [run, id, places, depth, premise, hypothesis, states, shares] = text.split("\t");
      const answer = data.labels.map((_, label) => report.examples.share(shares, label));
      return {
        at,
        run: Number(run),
        id,
        label: Number(places[0]),
        predicted: Number(places[1]),
        outcome: Number(places[2]),
        right: places[0] === places[1],
        depth: Number(depth),
        steps: states.length,
        confidence: Math.max(...answer),
        premise,
        hypothesis,
        words: ` ${premise} ${hypothesis}`.toLowerCase(),
        name: id.toLowerCase(),
      };
    }),

  /** The share number `place` of a text of shares: two signs of base 32, in per mille. */
  share: (shares, place) => parseInt(shares.slice(2 * place, 2 * place + 2), 32) / 1000,

  /** A pair with all its shares: those of the answer, and its steps one by one. */
  unpack(data, found) {
    const fields = data.pairs[found.at].split("\t");
    const [premise, hypothesis] = [found.premise.split(" "), found.hypothesis.split(" ")];
    let place = 0;
    const next = () => report.examples.share(fields[7], place++);
    const answer = data.labels.map(next);
    const steps = [...fields[6]].map((state) => ({
      halting: next(),
      weight: next(),
      classes: data.labels.map(next),
      hypothesis: hypothesis.map(next),
      premise: premise.map(next),
      state: Number(state),
    }));
    return { ...found, answer, steps, premise, hypothesis };
  },

  /**
   * The pairs that fit, in the order asked for. Each word must begin a word of either sentence,
   * or be part of the pair's id; an empty choice fits every pair.
   */
  find(index, { search, order, right, ...choices }) {
    const words = search.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = Object.entries(choices)
      .filter(([, value]) => value !== "")
      .map(([name, value]) => [name, Number(value)]);
    const fits = (pair) =>
      wanted.every(([name, value]) => pair[name] === value) &&
      (right === "" || pair.right === (right === "1")) &&
      words.every((word) => pair.words.includes(` ${word}`) || pair.name.includes(word));
    const compare = {
      most: (one, other) => other.steps - one.steps,
      fewest: (one, other) => one.steps - other.steps,
      sure: (one, other) => other.confidence - one.confidence,
      unsure: (one, other) => one.confidence - other.confidence,
    }[order];
    const found = index.filter(fits);
    return compare ? found.sort(compare) : found;
  },
};
