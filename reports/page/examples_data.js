"use strict";
// The traced pairs: taken apart as far as finding them needs, and wholly when one is shown.

report.examples = {
  /** What a search goes through, pair by pair; `packed` in browsers.py says what a text holds. */
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
        title: id.toLowerCase(),
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
};
