"""Reading a corrupt file of pairs yields pairs, or an error that names it."""

import bz2
import gzip
import lzma
import random
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from actmodels.errors import DataError
from pipeline.datasets.archive import in_archive
from pipeline.datasets.pair_files import SplitReader
from pipeline.parameters.labels import NLI, ClassReader
from pipeline.parameters.schema import PairFiles
from tests.fuzz.test_files import corrupt
from tests.pipeline.project import make_zip, params_tree

TEXTS = {
    "a.csv": 'premise,hypothesis,label\n"A ""dog"", old",It runs,0\nA cat,"x\ny",neutral\n',
    "a.tsv": 'premise\thypothesis\tlabel\n"A ""dog"""\tIt runs\t0.0\nA 5" cat\tx\t-\n',
    "a.jsonl": '{"premise": "A é", "hypothesis": "b", "label": 1, "id": 7}\n' * 3,
    "b.json": '{"data": [\n{"premise": "A", "hypothesis": "b", "label": "neutral"}\n]}',
    "a.json": '[{"sentence1": "A", "sentence2": "b", "gold_label": "entailment"}, {"x": NaN}]',
}


def test_files_of_pairs(tmp_path: Path, examples: Iterable[random.Random]) -> None:
    table = pa.table({"premise": ["a", "b"], "hypothesis": ["c", None], "label": [0, -1]})
    pq.write_table(table, tmp_path / "a.parquet")
    contents = {name: text.encode() for name, text in TEXTS.items()}
    contents["a.parquet"] = (tmp_path / "a.parquet").read_bytes()
    with pa.ipc.new_stream(tmp_path / "a.arrow", table.schema) as stream:
        stream.write_table(table)
    contents["a.arrow"] = (tmp_path / "a.arrow").read_bytes()
    contents["a.zip"] = make_zip(tmp_path / "a.zip", contents).read_bytes()
    files = params_tree()["corpus"]["files"]
    for rng in examples:
        name, content = rng.choice([*contents.items()])
        for _ in range(rng.randrange(3)):
            content = corrupt(content or b"x", rng)
        content = rng.choice([bytes, gzip.compress, bz2.compress, lzma.compress])(content)
        path = tmp_path / name
        path.write_bytes(corrupt(content or b"x", rng))
        settings = {"invalid": rng.choice(["stop", "drop"])}
        classes = ClassReader(NLI, files["labels"])
        reader = SplitReader("dev", PairFiles(**files | settings), classes)
        wanted = rng.choice([*TEXTS]) if name == "a.zip" else ""
        try:
            list(reader.read(in_archive(path, wanted, "k")))
        except DataError as error:
            assert str(path) in str(error), content
