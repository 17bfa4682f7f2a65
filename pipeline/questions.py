"""Stage `questions`: cloze questions, built or fetched, as tensors for each kind.

Vectors of words come from where the section `vectors` has them; where that draws them at random,
no word has a pre-trained one, and readers draw their own.
"""

import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from tqdm import tqdm

from actmodels.data.pairs import save_stored
from actmodels.errors import DataError
from actmodels.files import write_text
from actmodels.reader.questions import QuestionTensors, most_frequent_accuracy
from pipeline.parameters.load import load_params
from pipeline.parameters.schema import Params, Vectors
from pipeline.parameters.section import SPLITS
from pipeline.parameters.study_sections import WDW, Questions
from pipeline.running.results import write_json
from pipeline.running.stage import artefacts, fresh, run_stage
from pipeline.sources import cbt, whodidwhat
from pipeline.sources.archive import member_lines
from pipeline.sources.cloze import build_questions
from pipeline.sources.download import fetch
from pipeline.sources.encode import files_digest
from pipeline.sources.question import (
    ARTICLES,
    ClozeQuestion,
    articles,
    count_words,
    encode_questions,
    word_ids,
)
from pipeline.sources.stored_text import stored_text
from pipeline.sources.tokens import write_words
from pipeline.sources.vectors import look_up

CBT_FILES = {"train": "train", "dev": "valid_2000ex", "test": "test_2500ex"}
Split = Callable[[], Iterator[ClozeQuestion]]  # read anew each time: a split may be large


def main() -> None:
    """Write artefacts/questions/: a folder for each kind, and the manifest."""
    params = load_params()
    folder = artefacts("questions")
    with fresh(folder):
        kinds = {
            kind: write_kind(folder / kind, splits, params)
            for kind, splits in sources(params.questions, folder).items()
        }
        manifest = {"source": named_source(params.questions), "kinds": kinds}
        write_json(folder / "manifest.json", manifest, indent=1)


def named_source(settings: Questions) -> str:
    """Where questions are from, such as `cbt` or `text wikitext2`."""
    return f"text {settings.text.name}" if settings.source == "text" else settings.source


def sources(settings: Questions, folder: Path) -> dict[str, dict[str, Split]]:
    """The splits of each kind of questions."""
    if settings.source == "text":
        return built(settings, folder)
    if settings.source == "cbt":
        return children(settings)
    return {WDW: persons(settings)} if settings.source == "whodidwhat" else {}


def built(settings: Questions, folder: Path) -> dict[str, dict[str, Split]]:
    """Questions from a text; their files, in the format of CBT, stay in the artefact."""
    assert settings.text.name is not None  # a rule of params.yaml
    source = stored_text(settings.text.name).path
    try:
        with source.open(encoding="utf-8") as lines:
            found = build_questions(lines, source.name, settings.text)
    except UnicodeDecodeError as error:
        raise DataError(
            f"{source}: not UTF-8 (at byte {error.start + 1}); name another text in "
            "questions.text.name"
        ) from error
    asked = {kind: found[kind] for kind in settings.kinds}
    for kind, splits in asked.items():
        for split, questions in splits.items():
            cbt.write_questions(folder / kind / f"{split}.txt", questions)
    return {
        kind: {split: functools.partial(iter, splits[split]) for split in SPLITS}
        for kind, splits in asked.items()
    }


def children(settings: Questions) -> dict[str, dict[str, Split]]:
    """The Children's Book Test, read from its archive."""
    archive = fetch(settings.cbt, "questions.cbt")

    def read(kind: str, split: str) -> Iterator[ClozeQuestion]:
        member = f"{settings.cbt.folder}/cbtest_{kind}_{CBT_FILES[split]}.txt"
        lines = member_lines(archive, member, "questions.cbt", f"{kind} {split}")
        return cbt.parse_questions((line for _, line in lines), f"{member} in {archive}")

    return {
        kind: {split: functools.partial(read, kind, split) for split in SPLITS}
        for kind in settings.kinds
    }


def persons(settings: Questions) -> dict[str, Split]:
    """Who-Did-What, from the user's files."""
    given = settings.whodidwhat
    files = {
        split: fetch(getattr(given, split), f"questions.whodidwhat.{split}") for split in SPLITS
    }
    return {
        split: functools.partial(whodidwhat.read_questions, path, given.names_seed)
        for split, path in files.items()
    }


def write_kind(folder: Path, splits: dict[str, Split], params: Params) -> dict[str, Any]:
    """Write vocabulary, vectors and tensors of one kind; what the manifest says of them."""
    lowercase, kind = params.questions.lowercase, folder.name

    def shown(split: str, doing: str) -> Iterator[ClozeQuestion]:
        return iter(tqdm(splits[split](), f"{doing} {kind} {split}", unit=" questions"))

    # All splits are counted: a word that only dev has needs a row, so that it can be told apart.
    everything = (question for split in SPLITS for question in shown(split, "count"))
    counts = count_words(everything, lowercase)
    words = [word for word, _ in counts]
    write_words(folder / "words.tsv", counts)
    vectors, found = pretrained(words, params.vectors)
    save_stored({"vectors": vectors, "found": found}, folder / "vectors.pt")
    ids, described = word_ids(words), {}
    for split in SPLITS:
        tensors = encode_questions(shown(split, "encode"), ids, lowercase)
        tensors.save(folder / f"{split}.pt")
        described[split] = describe(tensors)
    write_text(folder / ARTICLES, "".join(f"{n}\n" for n in articles(splits["test"]())))
    candidates = ("\t".join(question.candidates) + "\n" for question in splits["dev"]())
    write_text(folder / "dev_candidates.tsv", "".join(candidates))
    files = [folder / f"{split}.pt" for split in SPLITS] + [folder / "vectors.pt"]
    sizes = {"words": len(words), "found": int(found.sum())}
    return {"digest": files_digest(files), **sizes, "splits": described}


def pretrained(words: list[str], settings: Vectors) -> tuple[Tensor, Tensor]:
    """Vectors, float32 [words, dimensions], and which words have one, bool [words]."""
    if settings.source == "random":
        none = torch.zeros(len(words), dtype=torch.bool)
        return torch.zeros(len(words), settings.dimensions), none
    return look_up(words, settings)


def describe(questions: QuestionTensors) -> dict[str, Any]:
    """What a split holds; `most_frequent` is the accuracy that needs no reading."""
    count = len(questions)
    return {
        "questions": count,
        "document_tokens": round(len(questions.document_ids) / count, 3),
        "query_tokens": round(len(questions.query_ids) / count, 3),
        "candidates": round(questions.candidate_counts.double().mean().item(), 3),
        "random": round((1 / questions.candidate_counts.double()).mean().item(), 6),
        "most_frequent": round(most_frequent_accuracy(questions), 6),
    }


if __name__ == "__main__":
    run_stage(main)
