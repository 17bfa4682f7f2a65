"""Build or fetch cloze questions and encode them, by answer class.

The section `vectors` configures the word vectors. Without `source: glove` no word has a
pre-trained vector, and the models draw their own.
"""

from collections.abc import Callable, Iterator
from functools import partial
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import torch
from tqdm import tqdm

from actmodels.data.pairs import save_stored
from actmodels.errors import DataError
from actmodels.files import files_digest
from pipeline.datasets.archive import member_lines
from pipeline.datasets.download import fetch, fetch_text
from pipeline.datasets.text_lines import write_lines
from pipeline.datasets.tokens import write_words
from pipeline.datasets.vectors import look_up
from pipeline.parameters.schema import Vectors
from pipeline.parameters.section import SPLITS
from pipeline.runtime.stage import clean_dir
from studies.cloze import question
from studies.cloze.data import FIRST_WORD
from studies.cloze.question import ARTICLES, ClozeQuestion, count_words, encode_questions
from studies.cloze.section import WDW, Data
from studies.cloze.sources import build_questions, read_questions

CBT_FILES = {"train": "train", "dev": "valid_2000ex", "test": "test_2500ex"}
Split = Callable[[], Iterator[ClozeQuestion]]  # read repeatedly, because a split may be large
Kinds = dict[str, dict[str, Split]]  # by answer class (NE, CN or WDW) and split


def write_questions(data: Data, vectors: Vectors, folder: Path) -> dict[str, Any]:
    """Write a folder for each answer class; return the source, and digest and words of each."""
    text = data.text.source if data.source == "text" else None
    with clean_dir(folder):
        kinds = {
            kind: write_kind(folder / kind, splits, vectors)
            for kind, splits in SOURCES[data.source](data, folder).items()
        }
    return {"source": f"text {text.name}" if text else data.source, "kinds": kinds}


def from_text(data: Data, folder: Path) -> Kinds:
    """Build questions from a text; also write them to the folder in the format of CBT."""
    key, source = "cloze.data.text.source", data.text.source
    assert source is not None  # validated with params.yaml
    lines = TextIOWrapper(BytesIO(fetch_text(source, key)), encoding="utf-8")
    try:
        built = build_questions(lines, f"{key}, {source.name}", data.text)
    except UnicodeDecodeError as error:
        problem = f"not UTF-8 (at byte {error.start + 1})"
        raise DataError(f"{key}, {source.name}: {problem}; name another text") from error
    kinds: Kinds = {kind: {} for kind in data.question_types}
    for kind in data.question_types:
        for split, questions in built[kind].items():
            write_lines(folder / kind / f"{split}.txt", map(question.format_question, questions))
            kinds[kind][split] = partial(iter, questions)
    return kinds


def from_cbt(data: Data, _folder: Path) -> Kinds:
    """Read the Children's Book Test from its archive."""
    archive = fetch(data.cbt, "cloze.data.cbt")

    def read(kind: str, split: str) -> Iterator[ClozeQuestion]:
        member = f"{data.cbt.folder}/cbtest_{kind}_{CBT_FILES[split]}.txt"
        lines = member_lines(archive, member, "cloze.data.cbt", f"{kind} {split}")
        return question.parse_questions((line for _, line in lines), f"{member} in {archive}")

    return {
        kind: {split: partial(read, kind, split) for split in SPLITS}
        for kind in data.question_types
    }


def from_who_did_what(data: Data, _folder: Path) -> Kinds:
    """Read Who-Did-What from the user's files."""
    section, splits = data.whodidwhat, dict[str, Split]()
    for split in SPLITS:
        path = fetch(getattr(section, split), f"cloze.data.whodidwhat.{split}")
        splits[split] = partial(read_questions, path, section.names_seed)
    return {WDW: splits}


SOURCES: dict[str, Callable[[Data, Path], Kinds]] = {
    **{"text": from_text, "cbt": from_cbt, "whodidwhat": from_who_did_what}
}


def write_kind(folder: Path, splits: dict[str, Split], settings: Vectors) -> dict[str, Any]:
    """Write vocabulary, vectors and tensors of an answer class; return its digest and words."""
    kind = folder.name

    def questions(split: str, action: str) -> Iterator[ClozeQuestion]:
        return iter(tqdm(splits[split](), f"{action} {kind} {split}", unit=" questions"))

    # All splits are counted, because words that occur only in dev or test need rows.
    counts = count_words(q for split in SPLITS for q in questions(split, "count"))
    words = [word for word, _ in counts]
    write_words(folder / "words.tsv", counts)
    vectors = torch.zeros(len(words), settings.dimensions)
    found = torch.zeros(len(words)).bool()
    if settings.source == "glove":
        vectors, found, _ = look_up(words, settings)
    save_stored({"vectors": vectors, "found": found}, folder / "vectors.pt")
    ids = {word: row for row, word in enumerate(words, start=FIRST_WORD)}
    for split in SPLITS:
        tensors = encode_questions(questions(split, "encode"), ids)
        tensors.save(folder / f"{split}.pt")
    # the number of each test question's article; -1, -2, ... if unknown
    test = enumerate(splits["test"](), start=1)
    write_lines(folder / ARTICLES, (-n if q.article is None else q.article for n, q in test))
    write_lines(folder / "dev_candidates.tsv", ("\t".join(q.candidates) for q in splits["dev"]()))
    files = [*(f"{split}.pt" for split in SPLITS), "vectors.pt"]
    digest = files_digest(folder, files)
    return {"digest": digest, "words": len(words), "found": int(found.sum())}
