"""Stage `cloze_data`: build or fetch cloze questions and encode them, by answer class.

The section `vectors` configures the word vectors. With random vectors, no word has a pre-trained
vector, and the models draw their own.
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

from actmodels.cloze.data import FIRST_WORD, QuestionTensors, most_frequent_accuracy
from actmodels.data.stored import save_stored
from actmodels.errors import DataError
from pipeline.datasets import question, whodidwhat
from pipeline.datasets.archive import member_lines
from pipeline.datasets.cloze import build_questions
from pipeline.datasets.download import fetch
from pipeline.datasets.encode import files_digest
from pipeline.datasets.question import ARTICLES, ClozeQuestion, count_words, encode_questions
from pipeline.datasets.text_lines import write_lines
from pipeline.datasets.tokens import write_words
from pipeline.datasets.vectors import look_up
from pipeline.parameters.load import load_params
from pipeline.parameters.schema import Params
from pipeline.parameters.section import SPLITS
from pipeline.parameters.study_sections import WDW, ClozeData
from pipeline.runtime.results import stored_text, write_json
from pipeline.runtime.stage import artifacts, clean_dir, run_stage

CBT_FILES = {"train": "train", "dev": "valid_2000ex", "test": "test_2500ex"}
Split = Callable[[], Iterator[ClozeQuestion]]  # read repeatedly, because a split may be large
Kinds = dict[str, dict[str, Split]]  # by answer class (NE, CN or WDW) and split


def main() -> None:
    """Write artifacts/cloze_data/: a folder for each answer class, and the manifest."""
    params = load_params()
    source = params.cloze_data.source
    label = f"text {params.cloze_data.text.name}" if source == "text" else source
    folder = artifacts("cloze_data")
    with clean_dir(folder):
        kinds = {
            kind: write_kind(folder / kind, splits, params)
            for kind, splits in SOURCES[source](params.cloze_data, folder).items()
        }
        write_json(folder / "manifest.json", {"source": label, "kinds": kinds}, indent=1)


def from_text(settings: ClozeData, folder: Path) -> Kinds:
    """Build questions from a text; also write them to the artifact in the format of CBT."""
    assert settings.text.name is not None  # validated with params.yaml
    source = stored_text(settings.text.name).path
    try:
        with source.open(encoding="utf-8") as lines:
            built = build_questions(lines, source.name, settings.text)
    except UnicodeDecodeError as error:
        problem = f"not UTF-8 (at byte {error.start + 1})"
        raise DataError(f"{source}: {problem}; name another cloze_data.text.name") from error
    kinds: Kinds = {kind: {} for kind in settings.question_types}
    for kind in settings.question_types:
        for split, questions in built[kind].items():
            write_lines(folder / kind / f"{split}.txt", map(question.format_question, questions))
            kinds[kind][split] = partial(iter, questions)
    return kinds


def from_cbt(settings: ClozeData, _folder: Path) -> Kinds:
    """Read the Children's Book Test from its archive."""
    archive = fetch(settings.cbt, "cloze_data.cbt")

    def read(kind: str, split: str) -> Iterator[ClozeQuestion]:
        member = f"{settings.cbt.folder}/cbtest_{kind}_{CBT_FILES[split]}.txt"
        lines = member_lines(archive, member, "cloze_data.cbt", f"{kind} {split}")
        return question.parse_questions((line for _, line in lines), f"{member} in {archive}")

    return {
        kind: {split: partial(read, kind, split) for split in SPLITS}
        for kind in settings.question_types
    }


def from_who_did_what(settings: ClozeData, _folder: Path) -> Kinds:
    """Read Who-Did-What from the user's files."""
    section, splits = settings.whodidwhat, dict[str, Split]()
    for split in SPLITS:
        path = fetch(getattr(section, split), f"cloze_data.whodidwhat.{split}")
        splits[split] = partial(whodidwhat.read_questions, path, section.names_seed)
    return {WDW: splits}


SOURCES: dict[str, Callable[[ClozeData, Path], Kinds]] = {
    **{"none": lambda *_: {}, "text": from_text},
    **{"cbt": from_cbt, "whodidwhat": from_who_did_what},
}


def write_kind(folder: Path, splits: dict[str, Split], params: Params) -> dict[str, Any]:
    """Write vocabulary, vectors and tensors of an answer class; return its manifest entry."""
    lowercase, kind = params.cloze_data.lowercase, folder.name

    def questions(split: str, action: str) -> Iterator[ClozeQuestion]:
        return iter(tqdm(splits[split](), f"{action} {kind} {split}", unit=" questions"))

    # All splits are counted, because words that occur only in dev or test need rows.
    counts = count_words((q for split in SPLITS for q in questions(split, "count")), lowercase)
    words = [word for word, _ in counts]
    write_words(folder / "words.tsv", counts)
    vectors = torch.zeros(len(words), params.vectors.dimensions)
    found = torch.zeros(len(words)).bool()
    if params.vectors.source != "random":
        vectors, found, _ = look_up(words, params.vectors)
    save_stored({"vectors": vectors, "found": found}, folder / "vectors.pt")
    ids = {word: row for row, word in enumerate(words, start=FIRST_WORD)}
    described = {}
    for split in SPLITS:
        tensors = encode_questions(questions(split, "encode"), ids, lowercase)
        tensors.save(folder / f"{split}.pt")
        described[split] = describe(tensors)
    # the number of each test question's article; -1, -2, ... if unknown
    test = enumerate(splits["test"](), start=1)
    write_lines(folder / ARTICLES, (-n if q.article is None else q.article for n, q in test))
    write_lines(folder / "dev_candidates.tsv", ("\t".join(q.candidates) for q in splits["dev"]()))
    files = [folder / f"{split}.pt" for split in SPLITS] + [folder / "vectors.pt"]
    sizes = {"words": len(words), "found": int(found.sum())}
    return {"digest": files_digest(files), **sizes, "splits": described}


def describe(questions: QuestionTensors) -> dict[str, Any]:
    """Return the statistics of a split; `random` and `most_frequent` are baseline accuracies."""
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
