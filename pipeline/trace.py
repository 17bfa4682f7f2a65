"""Stage `trace`: attention and answer of a retrained model at each step, for test pairs.

artifacts/trace/traces.jsonl has one line per pair and seed:
    model, seed, pair_id, label, depth (0: not recorded)
    premise, hypothesis, trace: tokens and steps, see pipeline.inference.steps
    predicted, steps, answer: the label, N, and the probability of each label
    outcome: whether later steps corrected the answer of the first, spoiled it, or neither
artifacts/trace/summary.json counts the outcomes.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import torch
from tqdm import tqdm

from actmodels.configs import LABELS
from actmodels.data.pairs import PairTensors, collate
from actmodels.errors import ConfigError
from actmodels.files import write_text
from actmodels.models.alternating import AlternatingAttention
from actmodels.tables import COUNTS
from actmodels.tracing import trace
from pipeline.datasets.tokens import TokenPair, read_token_pairs
from pipeline.inference.steps import by_label, described_steps
from pipeline.parameters.load import load_params
from pipeline.parameters.schema import Trace as Settings
from pipeline.runtime.results import write_json
from pipeline.runtime.stage import artifacts, require_artifact, run_stage
from pipeline.trials.models import retrained_models

DIGITS = 4  # of probabilities and weights
BATCH = 64  # pairs at a time


def chosen_rows(pairs: list[TokenPair], settings: Settings) -> list[int]:
    """Return the places in the test split of the pairs to trace.

    The named ones come first, then the first of each label, in the order of the split.

    Raises:
        ConfigError: a named pair is not in the test split.
    """
    places = {pair.pair_id: row for row, pair in enumerate(pairs)}
    if absent := [name for name in settings.pair_ids if name not in places]:
        problem = "is not in the test split; artifacts/tensors/test_ids.txt lists its pairs"
        raise ConfigError("params.yaml", [f"trace.pair_ids: {name!r} {problem}" for name in absent])
    first: list[int] = []
    for label in LABELS:
        rows = (row for row, pair in enumerate(pairs) if pair.label == label)
        first += islice(rows, settings.per_label)
    return list(dict.fromkeys([places[name] for name in settings.pair_ids] + sorted(first)))


def outcome(label: str, classes: Sequence[str], answer: str) -> str:
    """Return one of `OUTCOMES`, by which of the states and the answer are right.

    corrected: the state after step 1 is wrong, the answer right; spoiled: the reverse.
    right_throughout, wrong_throughout: every state and the answer are right, or wrong.
    changed_in_between: the answer is as right or wrong as the state after step 1, but a later
        state is not.

    Args:
        label: the gold label.
        classes: the answer of each state alone, the first after step 1.
        answer: that of the model. It weighs the states, so it may differ from all of them.
    """
    first, right = classes[0] == label, answer == label
    if first != right:
        return "corrected" if right else "spoiled"
    if any((state == label) != right for state in classes):
        return "changed_in_between"
    return "right_throughout" if right else "wrong_throughout"


def lines(settings: Settings) -> Iterator[dict[str, Any]]:
    """Yield every traced pair of the first retrained seeds."""
    tokens = list(read_token_pairs(require_artifact("vocabulary", "test.tsv")))
    pairs = PairTensors.load(artifacts("tensors", "test.pt"))
    rows = torch.tensor(chosen_rows(tokens, settings), dtype=torch.int64)
    models = list(islice(retrained_models(settings.model), settings.seeds))
    with tqdm(total=len(rows) * len(models), desc="trace", unit="pair") as progress:
        for config, _, model in models:
            assert isinstance(model, AlternatingAttention)  # a rule of params.yaml
            null_token = config.input.null_token
            for index in rows.split(BATCH):
                found = trace(model, collate(pairs, index, null_token=null_token))
                chosen = [tokens[row] for row in index.tolist()]
                described = described_steps(found, chosen, null_token=null_token, digits=DIGITS)
                answers = found.answer.double().round(decimals=DIGITS).tolist()
                labels = found.answer.argmax(dim=1).tolist()
                for pair, steps, answer, label in zip(
                    chosen, described, answers, labels, strict=True
                ):
                    predicted, of_pair = LABELS[label], steps.pop("trace")
                    yield {
                        "model": config.model,
                        "seed": config.seed,
                        "pair_id": pair.pair_id,
                        "label": pair.label,
                        "depth": pair.depth,
                        **steps,
                        "predicted": predicted,
                        "steps": len(of_pair),
                        "answer": by_label(answer),
                        "outcome": outcome(pair.label, [s["class"] for s in of_pair], predicted),
                        "trace": of_pair,
                    }
                progress.update(len(index))


def summarise(lines: Iterable[dict[str, Any]]) -> dict[str, dict[str, dict[str, int]]]:
    """Count traced pairs by model and seed, in the order of their lines.

    `right_after_step_1` and `right` count right states after step 1 and right answers; they
    differ by `corrected` less `spoiled`.
    """
    counts: dict[str, dict[str, dict[str, int]]] = {}
    for line in lines:
        seeds = counts.setdefault(line["model"], {})
        found = seeds.setdefault(f"seed_{line['seed']}", dict.fromkeys(COUNTS, 0))
        found["pairs"] += 1
        found["right_after_step_1"] += line["trace"][0]["class"] == line["label"]
        found["right"] += line["predicted"] == line["label"]
        found[line["outcome"]] += 1
    return counts


def main() -> None:
    """Write artifacts/trace/."""
    found = list(lines(load_params().trace))
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in found)
    write_text(artifacts("trace", "traces.jsonl"), text)
    write_json(artifacts("trace", "summary.json"), summarise(found))


if __name__ == "__main__":
    run_stage(main)
