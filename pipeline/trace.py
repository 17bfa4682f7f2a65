"""Stage `trace`: attention and answer of a retrained model at each step, on test pairs.

artifacts/trace/traces.jsonl has one line per pair and seed:
    model, seed, pair_id, label, depth (0: not recorded)
    premise, hypothesis, trace: tokens and steps, see pipeline.inference.steps
    predicted, steps, answer: the label, N, and the probability of each label
    outcome: one of actmodels.tables.OUTCOMES
artifacts/trace/summary.json counts the outcomes.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import torch
from tqdm import tqdm

from actmodels.data.pairs import PairTensors, collate
from actmodels.files import write_text
from actmodels.tables import COUNTS
from actmodels.tracing import TRACED, trace
from pipeline.datasets.tokens import read_token_pairs
from pipeline.inference.steps import described_steps
from pipeline.parameters.load import load_params
from pipeline.parameters.schema import Trace as Settings
from pipeline.runtime.results import write_json
from pipeline.runtime.stage import artifacts, require_artifact, run_stage
from pipeline.trials.models import model_in_steps, retrained_models

DIGITS = 4  # of probabilities and weights
BATCH = 64  # pairs at a time


def chosen_rows(labels: list[int], per_label: int) -> list[int]:
    """Return the indices in the split of the first pairs of each label, in order."""
    rows = defaultdict[int, list[int]](list)
    for row, label in enumerate(labels):
        rows[label].append(row)
    return sorted(row for of_label in rows.values() for row in of_label[:per_label])


def outcome(label: str, classes: Sequence[str], answer: str) -> str:
    """Return one of `OUTCOMES`: how the prediction changed over the steps.

    corrected: wrong after step 1, right in the end; spoiled: the reverse.
    right_throughout, wrong_throughout: right, or wrong, after each step and in the end.
    changed_in_between: the same after step 1 and in the end, but not after a step in between.

    Args:
        label: the gold label.
        classes: the prediction of the state after each step.
        answer: the model's prediction. It averages states, so it may differ from all of theirs.
    """
    first, right = classes[0] == label, answer == label
    if first != right:
        return "corrected" if right else "spoiled"
    if any((state == label) != right for state in classes):
        return "changed_in_between"
    return "right_throughout" if right else "wrong_throughout"


def lines(settings: Settings, name: str) -> Iterator[dict[str, Any]]:
    """Yield one line for each traced pair of the first retrained seeds of a model."""
    tokens = list(read_token_pairs(require_artifact("vocabulary", "test.tsv")))
    pairs = PairTensors.load(artifacts("tensors", "test.pt"))
    rows = torch.tensor(chosen_rows(pairs.labels.tolist(), settings.per_label), dtype=torch.int64)
    models = list(islice(retrained_models(name), settings.seeds))
    with tqdm(total=len(rows) * len(models), desc="trace", unit="pair") as progress:
        for config, _, model in models:
            assert isinstance(model, TRACED)  # as of model_in_steps
            null_token = config.input.null_token
            for index in rows.split(BATCH):
                result = trace(model, collate(pairs, index, null_token=null_token))
                batch = [tokens[row] for row in index.tolist()]
                described = described_steps(
                    result, batch, pairs.classes, null_token=null_token, digits=DIGITS
                )
                answers = result.answer.double().round(decimals=DIGITS).tolist()
                labels = result.answer.argmax(dim=1).tolist()
                columns = (batch, described, answers, labels)
                for pair, fields, answer, label in zip(*columns, strict=True):
                    predicted, steps = pairs.classes[label], fields.pop("trace")
                    yield {
                        "model": config.model,
                        "seed": config.seed,
                        "pair_id": pair.pair_id,
                        "label": pair.label,
                        "depth": pair.depth,
                        **fields,
                        "predicted": predicted,
                        "steps": len(steps),
                        "answer": dict(zip(pairs.classes, answer, strict=True)),
                        "outcome": outcome(pair.label, [s["class"] for s in steps], predicted),
                        "trace": steps,
                    }
                progress.update(len(index))


def count_outcomes(lines: Iterable[dict[str, Any]]) -> dict[str, dict[str, dict[str, int]]]:
    """Count the outcomes by model and seed, in the order of the lines.

    `right` minus `right_after_step_1` equals `corrected` minus `spoiled`.
    """
    counts: dict[str, dict[str, dict[str, int]]] = {}
    for line in lines:
        seeds = counts.setdefault(line["model"], {})
        count = seeds.setdefault(f"seed_{line['seed']}", dict.fromkeys(COUNTS, 0))
        count["pairs"] += 1
        count["right_after_step_1"] += line["trace"][0]["class"] == line["label"]
        count["right"] += line["predicted"] == line["label"]
        count[line["outcome"]] += 1
    return counts


def main() -> None:
    """Write artifacts/trace/."""
    settings = load_params().trace
    name = model_in_steps("trace.model", settings.model, TRACED)
    traced = list(lines(settings, name)) if name else []
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in traced)
    write_text(artifacts("trace", "traces.jsonl"), text)
    write_json(artifacts("trace", "summary.json"), count_outcomes(traced))


if __name__ == "__main__":
    run_stage(main)
