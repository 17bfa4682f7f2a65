"""Labels that are no class, or ask for one: the advice works as printed."""

import shlex
import unicodedata
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from actmodels.errors import DataError
from pipeline.datasets.pair_files import SplitReader
from pipeline.parameters.labels import NLI, ClassReader
from pipeline.parameters.schema import PairFiles
from tests.pipeline.datasets.test_pair_files import CB, DEFAULTS, MEANINGS, read, table, write


@pytest.mark.parametrize(
    ("labels", "word"),
    [
        (["same", "different"], 'corpus.classes=["same", "different"]'),
        (["a b", "c.d", 'say "x"', "it's", "$x", "4"],
         """corpus.classes=["a b", "c.d", "say \\"x\\"", "it's", "$x", "4"]"""),
        (["entailment", "not_entailment"], 'corpus.classes=["entailment", "not_entailment"]'),
        (["3", "4", "5"], 'corpus.classes=["3", "4", "5"]'),
        (["jä", "ja\u0308", "nein"], 'corpus.classes=["jä", "nein"]'),
    ],
)  # fmt: skip
def test_the_command_for_other_labels_works_as_printed(
    tmp_path: Path, labels: list[str], word: str
) -> None:
    path = write(tmp_path / "own.csv", table(labels * 2))
    with pytest.raises(DataError) as error:
        read(path)
    printed = str(error.value).splitlines()[-1].partition(" are the classes: act-nli use ")[2]
    assert shlex.split(printed.partition("; if they")[0]) == [word]
    classes = YAML(typ="safe", pure=True).load(word.partition("=")[2])
    _, pairs = read(path, classes=classes)
    names = [unicodedata.normalize("NFC", label) for label in labels * 2]
    assert [pair["gold_label"] for pair in pairs] == names


def test_scores_and_numbers_with_two_meanings_are_no_classes(tmp_path: Path) -> None:
    scores = write(tmp_path / "scores.csv", table(["0.000", "2.400", "5.000"]))
    for invalid in ("stop", "drop"):
        with pytest.raises(DataError, match=r"line 3: the label '2.400' is a score; expected"):
            read(scores, invalid=invalid)
    own = write(tmp_path / "own.csv", table(["a", "b"]))
    advice = r"label is 'a', label is 'b'; if 'a', 'b' are the classes: act-nli use 'corpus.classe"
    with pytest.raises(DataError, match=advice):
        read(own, invalid="drop")
    labels = ClassReader(NLI, DEFAULTS["labels"])
    files = PairFiles.model_validate(DEFAULTS)
    named, numbers = write(tmp_path / "n.parquet", table([0, 2, 1]), CB), table(["0", "1", "2"])
    list(SplitReader("train", files, labels).read([(named, None)]))
    problem = "line 3: class 1 is neutral here, and contradiction in train, by the names in the sc"
    advice = (
        """act-nli use 'corpus.files.labels.2="neutral"' 'corpus.files.labels.1="contradiction"'"""
    )
    with pytest.raises(DataError, match=rf"{problem}.*: {advice}$"):
        list(SplitReader("dev", files, labels).read([(write(tmp_path / "d.csv", numbers), None)]))


def test_where_chooses_the_rows_of_a_split(tmp_path: Path) -> None:
    rows = table(MEANINGS * 2, split=[*"ttdtdd"], number=[1, 1, 1, 2, 2, 2])
    for name in ("p.csv", "p.parquet", "p.jsonl"):
        where = DEFAULTS["where"] | {"dev": {"split": "d", "number": 2}}
        _, pairs = read(write(tmp_path / name, rows), where=where)
        assert [pair["gold_label"] for pair in pairs] == MEANINGS[1:], name
    with pytest.raises(DataError, match=r"p\.csv: no row has {'split': 'x'}; correct corpus\."):
        read(tmp_path / "p.csv", where=where | {"dev": {"split": "x"}})
    shards = [write(tmp_path / f"{s}.csv", table(MEANINGS, split=[s] * 3)) for s in "td"]
    _, pairs = read(*shards, where=where | {"dev": {"split": "d"}})
    assert len(pairs) == 3
    booleans = write(tmp_path / "b.csv", table(MEANINGS, own=["True", "False", "true"]))
    for value in (True, "True"):
        _, pairs = read(booleans, where=where | {"dev": {"own": value}})
        assert [pair["gold_label"] for pair in pairs] == MEANINGS[::2]
    with pytest.raises(DataError, match=r"p\.csv, line 2: no column lang; got 'premise', .*e\.dev"):
        read(tmp_path / "p.csv", where=where | {"dev": {"lang": "en"}})
