"""Stage `trace`: what a retrained model attends to and would answer at each step, for test pairs.

artefacts/trace/traces.jsonl has one line per pair and seed:
    model, seed, pair_id, label, depth (0: not recorded)
    premise, hypothesis: the tokens, behind "<null>" where the model has a NULL token
    predicted, steps, answer: the label, N, and the probability of each label
    trace: one entry per step up to N, each with
        halting_probability: of the unit at that step
        weight: what the step counts in the answer; all weights sum to 1
        class_probabilities: the answer if this state alone were classified
        premise_attention, hypothesis_attention: weights over the tokens, sum 1
"""

import json
from collections.abc import Iterator
from typing import Any

import torch
from tqdm import tqdm

from actmodels.config import TrialConfig
from actmodels.data.batching import collate
from actmodels.data.pairs import LABELS, PairTensors
from actmodels.errors import ConfigError
from actmodels.files import write_text
from actmodels.models.alternating import AlternatingAttention
from actmodels.trace import Trace, trace
from pipeline.parameters.load import load_params
from pipeline.parameters.schema import Trace as Settings
from pipeline.retrained import retrained_models
from pipeline.sources.tokens import TokenPair, read_token_pairs
from pipeline.stage import artefacts, run_stage

DIGITS = 6  # of probabilities and weights
BATCH = 64  # pairs at a time


def chosen_rows(pairs: list[TokenPair], settings: Settings) -> list[int]:
    """Where the pairs to trace stand in the test split: the first of each label, then those named.

    Raises:
        ConfigError: a named pair is not in the test split.
    """
    rows = [
        row
        for label in LABELS
        for row in [i for i, pair in enumerate(pairs) if pair.label == label][: settings.per_label]
    ]
    places = {pair.pair_id: row for row, pair in enumerate(pairs)}
    if absent := [name for name in settings.pair_ids if name not in places]:
        problem = "is not in the test split; artefacts/tensors/test_ids.txt lists its pairs"
        raise ConfigError("params.yaml", [f"trace.pair_ids: {name!r} {problem}" for name in absent])
    return list(dict.fromkeys(rows + [places[name] for name in settings.pair_ids]))


def by_label(probabilities: torch.Tensor) -> dict[str, float]:
    """Probabilities [labels] under their names."""
    return {label: rounded(p) for label, p in zip(LABELS, probabilities.tolist(), strict=True)}


def rounded(value: float) -> float:
    """A weight with as many digits as mean something."""
    return round(value, DIGITS)


def traced(config: TrialConfig, pair: TokenPair, found: Trace, place: int) -> dict[str, Any]:
    """The line of one pair; `place` is where it stands in the traced batch."""
    front = ["<null>"] if config.input.null_token else []
    premise, hypothesis = front + pair.premise, front + pair.hypothesis
    steps = int(found.steps[place])

    def attention(weights: torch.Tensor, tokens: list[str]) -> list[float]:
        return [rounded(weight) for weight in weights[: len(tokens)].tolist()]

    return {
        "model": config.model,
        "seed": config.seed,
        "pair_id": pair.pair_id,
        "label": pair.label,
        "depth": pair.depth,
        "premise": premise,
        "hypothesis": hypothesis,
        "predicted": LABELS[int(found.answer[place].argmax())],
        "steps": steps,
        "answer": by_label(found.answer[place]),
        "trace": [
            {
                "step": n + 1,
                "halting_probability": rounded(float(found.halting[place, n])),
                "weight": rounded(float(found.weights[place, n])),
                "class_probabilities": by_label(found.classes[place, n]),
                "premise_attention": attention(found.premise[place, n], premise),
                "hypothesis_attention": attention(found.hypothesis[place, n], hypothesis),
            }
            for n in range(steps)
        ],
    }


def lines(settings: Settings) -> Iterator[dict[str, Any]]:
    """Every traced pair of every seed of the traced model."""
    tokens = list(read_token_pairs(artefacts("vocabulary", "test.tsv")))
    pairs = PairTensors.load(artefacts("tensors", "test.pt"))
    rows = torch.tensor(chosen_rows(tokens, settings), dtype=torch.int64)
    for config, _, model in tqdm(list(retrained_models()), "trace", unit="model"):
        if config.model != settings.model or not isinstance(model, AlternatingAttention):
            continue
        for index in rows.split(BATCH):
            found = trace(model, collate(pairs, index, null_token=config.input.null_token))
            for place, row in enumerate(index.tolist()):
                yield traced(config, tokens[row], found, place)


def main() -> None:
    """Write artefacts/trace/traces.jsonl."""
    text = "".join(json.dumps(line) + "\n" for line in lines(load_params().trace))
    write_text(artefacts("trace", "traces.jsonl"), text)


if __name__ == "__main__":
    run_stage(main)
