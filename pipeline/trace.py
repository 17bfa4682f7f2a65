"""Stage `trace`: what a retrained model attends to and would answer at each step, for test pairs.

artefacts/trace/traces.jsonl has one line per pair and seed:
    model, seed, pair_id, label, depth (0: not recorded)
    premise, hypothesis, trace: tokens and steps, see pipeline.answering.steps
    predicted, steps, answer: the label, N, and the probability of each label
    outcome: what steps after the first did to the answer, see pipeline.measures.outcomes
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
from actmodels.data.labels import LABELS
from actmodels.data.pairs import PairTensors, collate
from actmodels.errors import ConfigError
from actmodels.files import replacing
from actmodels.models.alternating import AlternatingAttention
from actmodels.steps import Trace, trace
from pipeline.answering.steps import by_label, told_steps
from pipeline.measures.outcomes import outcome, summarise
from pipeline.parameters.load import load_params
from pipeline.parameters.schema import Trace as Settings
from pipeline.running.results import write_summary
from pipeline.running.stage import artefacts, made, run_stage
from pipeline.sources.tokens import TokenPair, read_token_pairs
from pipeline.trained.retrained import retrained_models

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
    answers = found.answer.double().round(decimals=DIGITS).tolist()
    labels = found.answer.argmax(dim=1).tolist()
    told = told_steps(found, pairs, null_token=config.input.null_token, digits=DIGITS)
    for place, (pair, steps) in enumerate(zip(pairs, told, strict=True)):
        predicted = LABELS[labels[place]]
        trace = steps.pop("trace")
        yield {
            "model": config.model,
            "seed": config.seed,
            "pair_id": pair.pair_id,
            "label": pair.label,
            "depth": pair.depth,
            **steps,
            "predicted": predicted,
            "steps": len(trace),
            "answer": by_label(answers[place]),
            "outcome": outcome(pair.label, [step["class"] for step in trace], predicted),
            "trace": trace,
        }


def lines(settings: Settings) -> Iterator[dict[str, Any]]:
    """Every traced pair of every traced seed."""
    tokens = list(read_token_pairs(made("vocabulary", "test.tsv")))
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
