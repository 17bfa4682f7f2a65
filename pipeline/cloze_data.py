"""Stage `cloze_data`: cloze questions, built or fetched, as tensors for each kind.

Vectors of words come from where the section `vectors` has them; where that draws them at random,
no word has a pre-trained one, and readers draw their own.
"""

from pipeline.runtime.idle import end_if_idle

if __name__ == "__main__":
    end_if_idle("cloze_data.source", {"manifest.json": '{\n "source": "none",\n "kinds": {}\n}\n'})

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import torch
from tqdm import tqdm

from actmodels.cloze.questions import FIRST_WORD, QuestionTensors, most_frequent_accuracy
from actmodels.data.stored import save_stored
from actmodels.errors import DataError
from pipeline.datasets import cbt, whodidwhat
from pipeline.datasets.archive import member_lines
from pipeline.datasets.cloze import build_questions
from pipeline.datasets.download import fetch
from pipeline.datasets.encode import files_digest
from pipeline.datasets.question import ARTICLES, ClozeQuestion, count_words, encode_questions
from pipeline.datasets.stored_text import stored_text
from pipeline.datasets.text_lines import write_lines
from pipeline.datasets.tokens import write_words
from pipeline.datasets.vectors import look_up
from pipeline.parameters.load import load_params
from pipeline.parameters.schema import Params
from pipeline.parameters.section import SPLITS
from pipeline.parameters.study_sections import WDW, ClozeData
from pipeline.runtime.results import write_json
from pipeline.runtime.stage import artifacts, clean_dir, run_stage

CBT_FILES = {"train": "train", "dev": "valid_2000ex", "test": "test_2500ex"}
Split = Callable[[], Iterator[ClozeQuestion]]  # read again each time: a split may be large
Kinds = dict[str, dict[str, Split]]


def main() -> None:
    """Write artifacts/cloze_data/: a folder for each kind, and the manifest."""
    params = load_params()
    source = params.cloze_data.source
    named = f"text {params.cloze_data.text.name}" if source == "text" else source
    folder = artifacts("cloze_data")
    with clean_dir(folder):
        kinds = {
            kind: write_kind(folder / kind, splits, params)
            for kind, splits in SOURCES[source](params.cloze_data, folder).items()
        }
        write_json(folder / "manifest.json", {"source": named, "kinds": kinds}, indent=1)


def built(settings: ClozeData, folder: Path) -> Kinds:
    """Questions from a text; their files, in the format of CBT, stay in the artifact."""
    assert settings.text.name is not None  # a rule of params.yaml
    source = stored_text(settings.text.name).path
    try:
        with source.open(encoding="utf-8") as lines:
            found = build_questions(lines, source.name, settings.text)
    except UnicodeDecodeError as error:
        problem = f"not UTF-8 (at byte {error.start + 1})"
        raise DataError(f"{source}: {problem}; name another cloze_data.text.name") from error
    for kind in settings.question_types:
        for split, questions in found[kind].items():
            formatted = map(cbt.format_question, questions)
            write_lines(folder / kind / f"{split}.txt", formatted)
    return {
        kind: {split: partial(iter, found[kind][split]) for split in SPLITS}
        for kind in settings.question_types
    }


def children(settings: ClozeData, _folder: Path) -> Kinds:
    """The Children's Book Test, read from its archive."""
    archive = fetch(settings.cbt, "cloze_data.cbt")

    def read(kind: str, split: str) -> Iterator[ClozeQuestion]:
        member = f"{settings.cbt.folder}/cbtest_{kind}_{CBT_FILES[split]}.txt"
        lines = member_lines(archive, member, "cloze_data.cbt", f"{kind} {split}")
        return cbt.parse_questions((line for _, line in lines), f"{member} in {archive}")

    return {
        kind: {split: partial(read, kind, split) for split in SPLITS}
        for kind in settings.question_types
    }


def persons(settings: ClozeData, _folder: Path) -> Kinds:
    """Who-Did-What, from the user's files."""
    own, splits = settings.whodidwhat, dict[str, Split]()
    for split in SPLITS:
        path = fetch(getattr(own, split), f"cloze_data.whodidwhat.{split}")
        splits[split] = partial(whodidwhat.read_questions, path, own.names_seed)
    return {WDW: splits}


SOURCES: dict[str, Callable[[ClozeData, Path], Kinds]]
SOURCES = {"none": lambda *_: {}, "text": built, "cbt": children, "whodidwhat": persons}


def write_kind(folder: Path, splits: dict[str, Split], params: Params) -> dict[str, Any]:
    """Write vocabulary, vectors and tensors of one kind; return its entry in the manifest."""
    lowercase, kind = params.cloze_data.lowercase, folder.name

    def shown(split: str, doing: str) -> Iterator[ClozeQuestion]:
        return iter(tqdm(splits[split](), f"{doing} {kind} {split}", unit=" questions"))

    # All splits are counted: a word that only dev has needs a row of its own.
    counts = count_words((q for split in SPLITS for q in shown(split, "count")), lowercase)
    words = [word for word, _ in counts]
    write_words(folder / "words.tsv", counts)
    vectors = torch.zeros(len(words), params.vectors.dimensions)
    found = torch.zeros(len(words)).bool()
    if params.vectors.source != "random":
        vectors, found = look_up(words, params.vectors)
    save_stored({"vectors": vectors, "found": found}, folder / "vectors.pt")
    ids = {word: row for row, word in enumerate(words, start=FIRST_WORD)}
    described = {}
    for split in SPLITS:
        tensors = encode_questions(shown(split, "encode"), ids, lowercase)
        tensors.save(folder / f"{split}.pt")
        described[split] = describe(tensors)
    # one number for the questions of one article; -1, -2, ... if not known
    tested = enumerate(splits["test"](), start=1)
    write_lines(folder / ARTICLES, (-n if q.article is None else q.article for n, q in tested))
    write_lines(folder / "dev_candidates.tsv", ("\t".join(q.candidates) for q in splits["dev"]()))
    files = [folder / f"{split}.pt" for split in SPLITS] + [folder / "vectors.pt"]
    sizes = {"words": len(words), "found": int(found.sum())}
    return {"digest": files_digest(files), **sizes, "splits": described}


def describe(questions: QuestionTensors) -> dict[str, Any]:
    """Sizes of a split; `most_frequent` is the accuracy that needs no reading."""
    count, candidates = len(questions), questions.candidate_counts.double()
    return {
        "questions": count,
        "document_tokens": round(len(questions.document_ids) / count, 3),
        "query_tokens": round(len(questions.query_ids) / count, 3),
        "candidates": round(candidates.mean().item(), 3),
        "random": round((1 / candidates).mean().item(), 6),
        "most_frequent": round(most_frequent_accuracy(questions), 6),
    }


if __name__ == "__main__":
    run_stage(main)
