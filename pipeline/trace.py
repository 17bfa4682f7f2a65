"""Stage `trace`: what a retrained model attends to and would answer at each step, for test pairs.

artefacts/trace/traces.jsonl has one line per pair and seed:
    model, seed, pair_id, label, depth (0: not recorded)
    premise, hypothesis: the tokens, behind "<null>" where the model has a NULL token
    predicted, steps, answer: the label, N, and the probability of each label
    outcome: what steps after the first did to the answer, see pipeline.outcomes
    trace: one entry per step up to N, each with
        halting_probability: of the unit at that step
        weight: what the step counts in the answer; all weights sum to 1
        class, class_probabilities: the answer if this state alone were classified
        premise_attention, hypothesis_attention: weights over the tokens, sum 1
artefacts/trace/summary.json counts the outcomes.
"""

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from tqdm import tqdm

from actmodels.config import TrialConfig
from actmodels.data.batching import collate
from actmodels.data.pairs import LABELS, PairTensors
from actmodels.errors import ConfigError
from actmodels.files import replacing
from actmodels.models.alternating import AlternatingAttention
from actmodels.trace import Trace, trace
from pipeline.outcomes import outcome, summarise
from pipeline.parameters.load import load_params
from pipeline.parameters.schema import Trace as Settings
from pipeline.results import write_summary
from pipeline.retrained import retrained_models
from pipeline.sources.tokens import TokenPair, read_token_pairs
from pipeline.stage import artefacts, run_stage

DIGITS = 4  # of probabilities and weights
BATCH = 64  # pairs at a time; putting those of like length together would save a tenth


def chosen_rows(pairs: list[TokenPair], settings: Settings) -> list[int]:
    """Where the pairs to trace stand in the test split.

    Those named come first, then the first of each label, in the order of the split.

    Raises:
        ConfigError: a named pair is not in the test split.
    """
    places = {pair.pair_id: row for row, pair in enumerate(pairs)}
    if absent := [name for name in settings.pair_ids if name not in places]:
        problem = "is not in the test split; artefacts/tensors/test_ids.txt lists its pairs"
        raise ConfigError("params.yaml", [f"trace.pair_ids: {name!r} {problem}" for name in absent])
    first: list[int] = []
    for label in LABELS:
        rows = (row for row, pair in enumerate(pairs) if pair.label == label)
        first += islice(rows, settings.per_label)
    return list(dict.fromkeys([places[name] for name in settings.pair_ids] + sorted(first)))


def traced_models(settings: Settings) -> list[tuple[TrialConfig, AlternatingAttention]]:
    """The traced model as retrained from the first seeds."""
    found = (
        (config, model)
        for config, _, model in retrained_models()
        if config.model == settings.model and isinstance(model, AlternatingAttention)
    )
    return list(islice(found, settings.seeds))


def traced_batch(
    config: TrialConfig, pairs: list[TokenPair], found: Trace
) -> Iterator[dict[str, Any]]:
    """The line of each pair of a traced batch."""
    answers, classes = found.answer.argmax(dim=1).tolist(), found.classes.argmax(dim=2).tolist()
    steps = found.steps.int().tolist()
    rounded = {
        name: part.double().round(decimals=DIGITS).tolist()
        for name, part in found._asdict().items()
    }
    front = ["<null>"] if config.input.null_token else []
    for place, pair in enumerate(pairs):
        premise, hypothesis = front + pair.premise, front + pair.hypothesis
        states = [LABELS[state] for state in classes[place][: steps[place]]]
        predicted = LABELS[answers[place]]
        yield {
            "model": config.model,
            "seed": config.seed,
            "pair_id": pair.pair_id,
            "label": pair.label,
            "depth": pair.depth,
            "premise": premise,
            "hypothesis": hypothesis,
            "predicted": predicted,
            "steps": steps[place],
            "answer": by_label(rounded["answer"][place]),
            "outcome": outcome(pair.label, states, predicted),
            "trace": [
                {
                    "step": n + 1,
                    "halting_probability": rounded["halting"][place][n],
                    "weight": rounded["weights"][place][n],
                    "class": state,
                    "class_probabilities": by_label(rounded["classes"][place][n]),
                    "premise_attention": rounded["premise"][place][n][: len(premise)],
                    "hypothesis_attention": rounded["hypothesis"][place][n][: len(hypothesis)],
                }
                for n, state in enumerate(states)
            ],
        }


def by_label(probabilities: Any) -> dict[str, float]:
    """Probabilities [labels] under their names."""
    return dict(zip(LABELS, probabilities, strict=True))


def lines(settings: Settings) -> Iterator[dict[str, Any]]:
    """Every traced pair of every traced seed."""
    tokens = list(read_token_pairs(artefacts("vocabulary", "test.tsv")))
    pairs = PairTensors.load(artefacts("tensors", "test.pt"))
    rows = torch.tensor(chosen_rows(tokens, settings), dtype=torch.int64)
    models = traced_models(settings)
    with tqdm(total=len(rows) * len(models), desc="trace", unit="pair") as progress:
        for config, model in models:
            for index in rows.split(BATCH):
                found = trace(model, collate(pairs, index, null_token=config.input.null_token))
                yield from traced_batch(config, [tokens[row] for row in index.tolist()], found)
                progress.update(len(index))


def written(lines: Iterator[dict[str, Any]], path: Path) -> Iterator[dict[str, Any]]:
    """Pass the lines on, each once it is in the file, which is there when all are."""
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        for line in lines:
            file.write(json.dumps(line, separators=(",", ":")) + "\n")
            yield line


def main() -> None:
    """Write artefacts/trace/."""
    found = written(lines(load_params().trace), artefacts("trace", "traces.jsonl"))
    write_summary(artefacts("trace", "summary.json"), summarise(found))


if __name__ == "__main__":
    run_stage(main)
