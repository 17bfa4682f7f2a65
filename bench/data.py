"""What the data stages cost on generated corpora: seconds, of processors too, and memory.

Each stage runs as DVC runs it, as a process of its own, in a folder of its own; start-up and
imports are in its seconds, all threads and child processes in those of processors.

The archives have the layout of SNLI and of GloVe. Nothing in them means anything: pairs are those
of bench.work, words are syllables. Lengths, the size of the vocabulary and the bytes of a line are
like SNLI's, for these are what the stages spend their time on. The same arguments give the same
bytes.
"""

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import torch
from ruamel.yaml import YAML
from torch import Tensor

from actmodels.data.labels import LABELS
from actmodels.data.pairs import FIRST_WORD
from actmodels.errors import DataError
from actmodels.files import file_digest
from bench.plan import Plan, Say
from bench.work import WORDS, drawn_pairs
from pipeline.parameters.load import load_params
from pipeline.parameters.schema import Params

ROOT = Path(__file__).parents[1]
STAGES = ("corpus", "vocabulary", "vectors", "tensors")
TRAIN_PER_DEV = 55  # SNLI has 550,000 training pairs and 10,000 in each of dev and test
FOLDER = "snli_1.0"
VECTORS_MEMBER = "vectors.txt"
# Tokens that stand against the word before them, by rank. The last makes 3 % of the sentences slow
# to tokenise; in SNLI quotation marks and full stops inside sentences do that to about 1 %.
MARKS = {12: ",", 30: "'s", 45: ";"}
SYLLABLES = ["".join(letters) for letters in product("bdfgklmnprstvz", "aeiou", "dklmnrst")]
NUMBERS = 50_000  # distinct ones in a file of vectors
# The kernel counts as a process's peak what stood there before it became that process, so stages
# are started by a small one. ru_maxrss: bytes on macOS, kibibytes elsewhere.
SMALL = """
import json, os, subprocess, sys, time
start = time.perf_counter()
stage = subprocess.Popen(sys.argv[1:])
_, status, used = os.wait4(stage.pid, 0)
wall = time.perf_counter() - start
peak = used.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
code = os.waitstatus_to_exitcode(status)
print(json.dumps([code, wall, used.ru_utime + used.ru_stime, peak]))
"""


def measure(plan: Plan, say: Say, stages: Sequence[str] = STAGES) -> dict[str, Any]:
    """A row for each stage on each size of corpus, n = 1.

    Raises:
        DataError: a stage failed.
    """
    base = load_params(ROOT / "conf" / "base.yaml")
    glove, rows = plan.workspace / "vectors.zip", []
    write_vectors(glove, plan.vectors, base.vectors.dimensions)
    for pairs in plan.corpora:
        say(f"{pairs:,} pairs: the archive is written")
        place = plan.workspace / f"{pairs}_pairs"
        place.mkdir()
        small = max(pairs // TRAIN_PER_DEV, 1)
        write_corpus(place / "snli_1.0.zip", {"train": pairs, "dev": small, "test": small})
        write_params(place, base, place / "snli_1.0.zip", glove)
        for stage in stages:
            say(f"{pairs:,} pairs: {stage}")
            rows.append(
                {
                    "pairs": pairs,
                    "stage": stage,
                    **run(f"stage {stage}", ("-m", f"pipeline.{stage}"), place),
                }
            )
    return {"rows": rows}


def write_params(place: Path, base: Params, archive: Path, glove: Path) -> None:
    """The demo's parameters, but with these archives, as preset `local` has them."""
    tree = base.model_dump(mode="json")
    tree["corpus"]["source"] = "snli"
    tree["corpus"]["snli"] |= source(archive) | {"folder": FOLDER, "labelled_pairs": None}
    tree["vectors"]["source"] = "glove"
    tree["vectors"]["glove"] |= source(glove) | {"member": VECTORS_MEMBER}
    Params.model_validate(tree)
    YAML(typ="safe", pure=True).dump(tree, place / "params.yaml")


def source(archive: Path) -> dict[str, object]:
    """Where an archive is, as the parameters say it."""
    return {
        "urls": [archive.resolve().as_uri()],
        "sha256": file_digest(archive),
        "bytes": None,
    }


def run(name: str, arguments: Sequence[str], place: Path) -> dict[str, float]:
    """What a new Python that is given `arguments` costs in the folder `place`.

    Raises:
        DataError: it failed; names it and ends with the last line that it said.
    """
    command = [sys.executable, "-I", "-S", "-c", SMALL, sys.executable, *arguments]
    env = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONSAFEPATH": "1"}  # not what is in place
    done = subprocess.run(command, cwd=place, env=env, capture_output=True, text=True, check=True)
    *_, last = done.stdout.splitlines()  # the stage's own output comes first
    code, wall, cpu, peak = json.loads(last)
    if code:
        *_, said = done.stderr.splitlines() or [""]
        raise DataError(f"{name} ended with {code}: {said}")
    return {"seconds": wall, "cpu_seconds": cpu, "peak_mebibytes": peak}


def write_corpus(archive: Path, pairs: Mapping[str, int]) -> None:
    """Write a zip as SNLI's: one jsonl file for each split.

    Args:
        pairs: of each split; all labelled. Three share a premise.
    """
    words = [word(rank) if rank in MARKS else f" {word(rank)}" for rank in range(WORDS)]
    # level 6 takes three times as long
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as opened:
        for seed, (split, count) in enumerate(pairs.items()):
            drawn = drawn_pairs(count, WORDS, seed)
            premise = reader(drawn.premise_ids, drawn.premise_offsets, words)
            hypothesis = reader(drawn.hypothesis_ids, drawn.hypothesis_offsets, words)
            member = f"{FOLDER}/snli_1.0_{split}.jsonl"
            with opened.open(member, "w", force_zip64=True) as out:
                for row, label in enumerate(drawn.labels.tolist()):
                    pair = line(row, LABELS[label], premise(row - row % 3), hypothesis(row))
                    out.write(pair.encode())


def write_vectors(archive: Path, words: int, dimensions: int) -> None:
    """Write a zip with one file in GloVe's text format; the words of `write_corpus` come first."""
    generator = torch.Generator().manual_seed(0)
    drawn = torch.randn(NUMBERS, generator=generator).tolist()
    numbers = [f"{0.4 * number:.5g}" for number in drawn]
    starts = torch.randint(NUMBERS - dimensions, (words,), generator=generator).tolist()
    with (
        zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as opened,
        opened.open(VECTORS_MEMBER, "w", force_zip64=True) as out,
    ):
        for rank, start in enumerate(starts):
            row = " ".join(numbers[start : start + dimensions])
            out.write(f"{word(rank)} {row}\n".encode())


def word(rank: int) -> str:
    """The token of a rank, the most frequent first; two ranks never have the same one."""
    if rank in MARKS:
        return MARKS[rank]
    found = SYLLABLES[rank % len(SYLLABLES)]
    while rank := rank // len(SYLLABLES):
        rank -= 1  # else two numbers of syllables would have a word in common
        found = SYLLABLES[rank % len(SYLLABLES)] + found
    return found


def reader(ids: Tensor, offsets: Tensor, words: list[str]) -> Callable[[int], str]:
    """Gives the sentence of a row; its last token is a full stop."""
    starts = offsets.tolist()

    def sentence(row: int) -> str:
        inner = ids[starts[row] : max(starts[row] + 1, starts[row + 1] - 1)] - FIRST_WORD
        text = "".join([words[rank] for rank in inner.tolist()])
        return f"{text.lstrip().capitalize()}."

    return sentence


def line(row: int, label: str, premise: str, hypothesis: str) -> str:
    """A pair with the keys of SNLI, in its order; parses are of the length of SNLI's."""
    caption = f"{row // 3}.jpg#0"
    pair: dict[str, object] = {
        "annotator_labels": [label],
        "captionID": caption,
        "gold_label": label,
        "pairID": f"{caption}r{row % 3}{label[0]}",
    }
    for key, text in {"sentence1": premise, "sentence2": hypothesis}.items():
        pair |= {
            key: text,
            f"{key}_binary_parse": text.replace(" ", " ) ( "),
            f"{key}_parse": text.replace(" ", ")) (PP (NP (NN "),
        }
    return json.dumps(pair) + "\n"
