"""Stage `lexical_baseline`: output, selection on dev alone, and errors."""

import csv
from itertools import product
from pathlib import Path
from typing import Any, get_args

import pytest

from actmodels.errors import DataError
from pipeline import lexical_baseline
from pipeline.datasets.features import GROUPS
from pipeline.datasets.tokens import TokenPair, write_token_pairs
from pipeline.parameters.schema import Feature
from pipeline.parameters.section import SPLITS
from tests.pipeline.datasets.test_features import pair
from tests.pipeline.project import read_output, write_params, written

ANIMALS = ("dog", "cat", "bird", "horse")
DEEDS = {"entailment": "moves", "neutral": "barks", "contradiction": "sleeps"}


def pairs(split: str, labels: tuple[str, ...] = tuple(DEEDS)) -> list[TokenPair]:
    """Return four pairs of each label, determined by the verb of the hypothesis."""
    return [
        pair(f"a {animal} runs .", f"the {animal} {DEEDS[label]} .", label, f"{split}-{n}")
        for n, (animal, label) in enumerate(product(ANIMALS, labels))
    ]


@pytest.fixture(autouse=True)
def _vocabulary(folder: Path) -> None:
    for split in SPLITS:
        write(folder, split, pairs(split))
    configure(folder)


def write(folder: Path, split: str, rows: list[TokenPair]) -> None:
    write_token_pairs(folder / "artifacts" / "vocabulary" / f"{split}.tsv", rows)


def configure(folder: Path, **values: Any) -> None:
    write_params(folder, lexical_baseline={"min_count": 2} | values)


def table(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / "artifacts" / "lexical_baseline" / name).open(
        encoding="utf-8", newline=""
    ) as file:
        return list(csv.DictReader(file))


def summary(folder: Path) -> dict[str, Any]:
    """Run the stage and return its summary."""
    lexical_baseline.main()
    found: dict[str, Any] = read_output(folder, "lexical_baseline")["lexical_baseline"]
    return found


def test_output(folder: Path) -> None:
    stored = summary(folder)
    (result,) = table(folder, "results.csv")
    assert (result["model"], result["seed"]) == ("lexical_baseline", "0")
    assert (result["dev_accuracy"], result["test_accuracy"]) == ("1.0", "1.0")
    assert result["test_pairs"] == "12"
    columns = sum(stored["features"].values())
    assert list(stored["features"]) == list(GROUPS)
    assert int(result["parameters"]) == stored["parameters"] == 3 * (columns + 1)
    assert list(stored["by_regularization"]) == ["1.0", "3.0", "10.0", "30.0"]

    predictions = table(folder, "predictions.csv")
    assert list(predictions[0]) == ["model", "seed", "pair_id", "label", "predicted", "steps"]
    assert [row["pair_id"] for row in predictions] == [one.pair_id for one in pairs("test")]
    assert [row["predicted"] for row in predictions] == [one.label for one in pairs("test")]

    before = written(folder, "lexical_baseline")
    lexical_baseline.main()
    assert written(folder, "lexical_baseline") == before  # the same bytes


@pytest.fixture
def biased(folder: Path) -> Path:
    """Write mostly neutral training pairs: with a strong penalty all predictions are neutral."""
    write(folder, "train", pairs("train") + pairs("more", ("neutral",)) * 3)
    configure(folder, regularization=[0.1, 1000])
    return folder


def neutral(split: str) -> list[TokenPair]:
    return [one._replace(label="neutral") for one in pairs(split)]


def test_dev_selects_the_strength_and_test_nothing(biased: Path) -> None:
    """Test labels in favor of another strength change only the test accuracy."""
    before, predicted = summary(biased), table(biased, "predictions.csv")
    assert before["regularization"] == 0.1
    write(biased, "test", neutral("test"))
    after, repeated = summary(biased), table(biased, "predictions.csv")
    assert (before.pop("test_accuracy"), after.pop("test_accuracy")) == (1.0, 1 / 3)
    assert before == after
    assert [row["predicted"] for row in repeated] == [row["predicted"] for row in predicted]
    write(biased, "dev", neutral("dev"))
    assert summary(biased)["regularization"] == 1000


def test_pairs_that_cannot_be_learned(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for split in SPLITS:
        write(folder, split, [])
        with pytest.raises(DataError, match=rf"{split}\.tsv has no pairs; give the corpus label"):
            lexical_baseline.main()
        write(folder, split, pairs(split))
    monkeypatch.setattr(lexical_baseline, "MAX_ITERATIONS", 1)
    message = (
        r"^lexical_baseline\.regularization 1\.0 does not converge in 1 iterations; use a larger"
    )
    with pytest.raises(DataError, match=message):
        lexical_baseline.main()
    write(folder, "train", neutral("train"))
    with pytest.raises(
        DataError, match=r"^lexical_baseline: all training pairs have one label; expect"
    ):
        lexical_baseline.main()
    assert not (folder / "artifacts" / "lexical_baseline").exists()


def test_the_schema_knows_the_groups() -> None:
    assert get_args(Feature) == GROUPS
