"""Traced pairs as the stage `trace` writes them: a few by hand, or any number at random."""

import json
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from actmodels.files import write_text
from pipeline.trace import outcome, summarise

MODEL = "adaptive_attention"
N, E, C = LABELS = ("neutral", "entailment", "contradiction")
# Pair, gold label, what each state would answer, the answer, premise, hypothesis.
PAIRS = (
    ("p1#a", E, (N, E, E), E, "a man plays a guitar", "a person makes music"),
    ("p2#a", E, (E, N), N, "two dogs run on the beach", "dogs are outside"),
    ("p2#b", C, (C, C), C, "two dogs run on the beach", "the dogs sleep"),
    ("p3#a", N, (C, E, C, E), E, "a woman in a café", "a woman waits for her friend"),
    ("p4#a", N, (N, C, N), N, "children sing </script>", "children sing a <b>song</b>"),
    ("p5#a", C, (E,), E, "a man stands", "a man sits"),
    ("p6#a", E, (C, E, E, E), E, "a manual of the guitar", "a book"),
    ("p7#a", C, (C,), C, "nobody is here", "a crowd cheers"),
)


def by_label(label: str, share: float) -> dict[str, float]:
    """`share` for one label, the rest halved between the others."""
    rest = round((1 - share) / 2, 4)
    return {name: round(share, 4) if name == label else rest for name in LABELS}


def attention(tokens: list[str], step: int) -> list[float]:
    """A half on one token, which moves on with the steps; the rest on all others alike."""
    others = round(0.5 / max(1, len(tokens) - 1), 4)
    return [0.5 if at == step % len(tokens) else others for at in range(len(tokens))]


def line(
    pair: tuple[str, str, tuple[str, ...], str, str, str], seed: int = 1, depth: int = 0
) -> dict[str, Any]:
    """The line of a hand-made pair; confidence and halting grow with the steps."""
    pair_id, label, states, answer, *sentences = pair
    premise, hypothesis = (sentence.split() for sentence in sentences)
    steps = len(states)
    return {
        **{"model": MODEL, "seed": seed, "pair_id": pair_id, "label": label, "depth": depth},
        **{"premise": premise, "hypothesis": hypothesis, "predicted": answer, "steps": steps},
        **{"answer": by_label(answer, 0.5 + 0.0625 * steps)},
        "outcome": outcome(label, states, answer),
        "trace": [
            {
                "step": n,
                "halting_probability": round(0.1234 * n, 4),
                "weight": round(1 / steps, 4),
                "class": state,
                "class_probabilities": by_label(state, 0.4 + 0.1 * n),
                "premise_attention": attention(premise, n),
                "hypothesis_attention": attention(hypothesis, n + 1),
            }
            for n, state in enumerate(states, start=1)
        ],
    }


def random_lines(count: int, seed: int = 0) -> Iterable[dict[str, Any]]:
    """Pairs of the size of SNLI's: premise of 15 words, hypothesis of 9, up to 8 steps."""
    draw = random.Random(seed)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(draw.choices(letters, k=draw.randint(2, 8))) for _ in range(3000)]

    def shares(number: int) -> list[float]:
        drawn = [draw.expovariate(1) for _ in range(number)]
        return [round(value / sum(drawn), 4) for value in drawn]

    for at in range(count):
        premise, hypothesis = (draw.choices(words, k=length) for length in (15, 9))
        trace = []
        for n in range(1, draw.randint(1, 8) + 1):
            classes = dict(zip(LABELS, shares(3), strict=True))
            trace.append(
                {
                    **{"step": n, "halting_probability": round(draw.random(), 4)},
                    **{"weight": round(draw.random(), 4), "class": max(classes, key=classes.get)},
                    **{"class_probabilities": classes, "premise_attention": shares(15)},
                    "hypothesis_attention": shares(9),
                }
            )
        answer = dict(zip(LABELS, shares(3), strict=True))
        label, predicted = draw.choice(LABELS), max(answer, key=answer.get)
        yield {
            **{"model": MODEL, "seed": 1, "pair_id": f"{draw.randrange(10**10)}.jpg#{at}"},
            **{"label": label, "depth": 0, "premise": premise, "hypothesis": hypothesis},
            **{"predicted": predicted, "steps": len(trace), "answer": answer},
            "outcome": outcome(label, [step["class"] for step in trace], predicted),
            "trace": trace,
        }


def write_traces(root: Path, lines: Iterable[dict[str, Any]] | None = None) -> None:
    """Write artefacts/trace/ under `root`, of the hand-made pairs if none are given."""
    stored = [line(pair) for pair in PAIRS] if lines is None else list(lines)
    text = "".join(json.dumps(one, separators=(",", ":")) + "\n" for one in stored)
    write_text(root / "trace" / "traces.jsonl", text)
    write_text(root / "trace" / "summary.json", json.dumps(summarise(stored), indent=2) + "\n")
