"""Stage `trace` on real models: pairs, their order, and their lines."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from actmodels.data.pairs import PairTensors, collate
from actmodels.models.alternating import AlternatingAttention
from actmodels.tracing import trace
from pipeline.datasets.tokens import TokenPair, write_token_pairs
from pipeline.parameters.schema import Trace as Settings
from pipeline.trace import BATCH, chosen_rows, count_outcomes, lines, main, outcome
from pipeline.trials.models import retrained_models
from tests.pipeline.project import read_output, transcribe, write_params, written
from tests.pipeline.tiny_export import trained
from tests.samples import CLASSES, sample_pairs, sample_trial

MODEL, PAIRS = "adaptive_attention", BATCH + 9  # one batch and a bit


def settings(**given: Any) -> Settings:
    return Settings(**{"model": MODEL, "seeds": 1, "per_label": PAIRS, **given})


def tokens_of(pairs: PairTensors) -> list[TokenPair]:
    """Return the sentences as words that spell the ids."""

    def words(ids: torch.Tensor, offsets: torch.Tensor) -> list[list[str]]:
        return [[f"w{i}" for i in part.tolist()] for part in ids.tensor_split(offsets[1:-1])]

    premises = words(pairs.premise_ids, pairs.premise_offsets)
    hypotheses = words(pairs.hypothesis_ids, pairs.hypothesis_offsets)
    labeled = zip(pairs.labels.tolist(), premises, hypotheses, strict=True)
    return [TokenPair(f"pair{n}", CLASSES[y], 0, p, h) for n, (y, p, h) in enumerate(labeled)]


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with two seeds of a model and one of another, each trained for an epoch."""
    folder = tmp_path_factory.mktemp("project")
    pairs = sample_pairs(PAIRS, seed=5)
    trained(
        folder,
        sample_trial("decomposable_attention", max_epochs=1),
        *(sample_trial(MODEL, max_epochs=1, seed=seed, null_token=True) for seed in (9, 3)),
    )
    pairs.save(folder / "artifacts" / "tensors" / "test.pt")
    write_token_pairs(folder / "artifacts" / "vocabulary" / "test.tsv", tokens_of(pairs))
    return folder


@pytest.fixture
def project(stored: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(stored)
    return stored


def test_a_line_equals_the_trace_of_a_single_pair(project: Path) -> None:
    traced = list(lines(settings(), MODEL))
    _, _, model = next(retrained_models(MODEL))
    assert isinstance(model, AlternatingAttention)
    pairs = sample_pairs(PAIRS, seed=5)
    assert [line["pair_id"] for line in traced] == [f"pair{row}" for row in range(PAIRS)]
    assert len({line["steps"] for line in traced}) > 1
    for row, (line, pair) in enumerate(zip(traced, tokens_of(pairs), strict=True)):
        alone = trace(model, collate(pairs, torch.tensor([row]), null_token=True))
        assert (line["model"], line["seed"], line["label"]) == (MODEL, 9, pair.label)
        assert line["premise"] == ["<null>", *pair.premise]
        assert line["hypothesis"] == ["<null>", *pair.hypothesis]
        assert line["predicted"] == CLASSES[int(alone.answer[0].argmax())]
        assert list(line["answer"].values()) == pytest.approx(alone.answer[0].tolist(), abs=5.1e-5)
        assert len(line["trace"]) == line["steps"] == int(alone.steps[0])
        for n, step in enumerate(line["trace"]):
            assert (step["step"], step["class"]) == (
                n + 1,
                CLASSES[int(alone.classes[0, n].argmax())],
            )
            assert [*step["class_probabilities"]] == CLASSES
            shown = [
                *(step["halting_probability"], step["weight"]),
                *step["class_probabilities"].values(),
                *(*step["premise_attention"], *step["hypothesis_attention"]),
            ]
            parts = (alone.halting, alone.weights, alone.classes, alone.premise, alone.hypothesis)
            exact = torch.cat([part[0, n].reshape(-1) for part in parts]).tolist()
            assert shown == pytest.approx(exact, abs=5.1e-5)


def test_the_stage_writes_lines_of_the_first_seeds_and_their_counts(project: Path) -> None:
    for seeds, expected in ((1, [9]), (5, [9, 3])):
        write_params(project, trace={"seeds": seeds, "per_label": 5})
        main()
        made = written(project, "trace")
        read = [json.loads(line) for line in made["traces.jsonl"].splitlines()]
        assert list(dict.fromkeys(line["seed"] for line in read)) == expected
    numbers: list[str] = []
    text = made["traces.jsonl"].decode().replace("\n", ",")[:-1]
    json.loads(f"[{text}]", parse_float=lambda number: numbers.append(number) or float(number))
    assert max(len(number.split(".")[1]) for number in numbers) == 4  # decimals
    summary = read_output(project, "trace")
    assert summary == count_outcomes(read)
    right = sum(line["predicted"] == line["label"] for line in read if line["seed"] == 9)
    assert (summary[MODEL]["seed_9"]["pairs"], summary[MODEL]["seed_9"]["right"]) == (15, right)


def test_outcomes_and_their_counts(golden: Callable[..., None]) -> None:
    def count(**seeds: list[tuple[str, list[str], str]]) -> list[str]:
        """Return the counts of pairs with a label, the class of each step, and the answer."""
        lines = [
            {"model": "m", "seed": seed[1:], "label": label, "predicted": answer}
            | {"outcome": outcome(label, classes, answer), "trace": [{"class": c} for c in classes]}
            for seed, pairs in seeds.items()
            for label, classes, answer in pairs
        ]
        return [f"{seed}: {counts}" for seed, counts in count_outcomes(lines)["m"].items()]

    names = {"count": count, "outcome": outcome, "chosen_rows": chosen_rows}
    transcribe(golden, "outcomes.txt", names | {name[0].upper(): name for name in CLASSES})
