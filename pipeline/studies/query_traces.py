"""How a reader rewrites its query, in words: a line of artefacts/nse/queries.jsonl."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from actmodels.errors import ArtefactError
from actmodels.reader.evaluation import QueryTrace, trace_query
from actmodels.reader.model import Reader
from actmodels.reader.questions import FIRST_WORD, PLACEHOLDER, UNKNOWN, QuestionTensors
from pipeline.sources.question import BLANK
from pipeline.sources.words import read_words

ATTENDED = 3  # most attended words that are named, as in the paper's appendix A
DIGITS = 4


@dataclass(frozen=True)
class Wording:
    """The words behind the tensors of the dev split.

    words: by token id. candidates: of each question.
    """

    words: list[str]
    candidates: list[list[str]]

    @classmethod
    def load(cls, folder: Path) -> "Wording":
        """Read what the stage `questions` wrote for one kind.

        Raises:
            ArtefactError: a file is missing or damaged.
        """
        special = [""] * FIRST_WORD
        special[UNKNOWN], special[PLACEHOLDER] = "<unknown>", BLANK
        path = folder / "dev_candidates.tsv"
        try:
            lines = path.read_text(encoding="utf-8").split("\n")[:-1]
        except (OSError, UnicodeDecodeError) as error:
            problem = f"{path} is missing or damaged; run: dvc repro -f questions"
            raise ArtefactError(problem) from error
        words = special + read_words(folder / "words.tsv")
        return cls(words, [line.split("\t") for line in lines])

    def text(self, ids: Tensor) -> list[str]:
        """Words of token ids."""
        return [self.words[i] for i in ids.tolist()]


def query_trace(
    reader: Reader, questions: QuestionTensors, number: int, wording: Wording
) -> dict[str, Any]:
    """What the reader does with dev question `number`; in words and numbers.

    Returns:
        document, query and candidates as words, the right answer and the reader's; attended, the
        words of the document with most attention, all steps together, each word once; for each
        step z_t as key, g_t as gate and e_t as halting (None where there is none), p_t as weight,
        and the answer that the step would give by itself with its probability.
    """
    found = trace_query(reader, questions, number)
    at = slice(*questions.document_offsets[number : number + 2].tolist())
    asked = slice(*questions.query_offsets[number : number + 2].tolist())
    document = wording.text(questions.document_ids[at])
    candidates = wording.candidates[number]
    return {
        "number": number,
        "document": document,
        "query": wording.text(questions.query_ids[asked]),
        "candidates": candidates,
        "answer": candidates[int(questions.answers[number])],
        "predicted": candidates[int(found.probabilities.argmax())],
        "attended": attended(document, found.attention.sum(dim=0)),
        "steps": [step(found, place, candidates) for place in range(len(found.weights))],
    }


def attended(document: list[str], weights: Tensor) -> list[str]:
    """The words with most attention, wherever they stand."""
    sums: dict[str, float] = {}
    for word, weight in zip(document, weights.tolist(), strict=True):
        sums[word] = sums.get(word, 0.0) + weight
    return sorted(sums, key=lambda word: -sums[word])[:ATTENDED]


def step(found: QueryTrace, place: int, candidates: list[str]) -> dict[str, Any]:
    """One step; the last one writes nothing, so it has neither gate nor chance to halt."""

    def listed(values: Tensor | None) -> list[float] | None:
        if values is None or place >= len(values):
            return None
        return [round(value, DIGITS) for value in values[place].tolist()]

    halting = None
    if found.halting is not None and place < len(found.halting):
        halting = found.halting[place].item()
    best = int(found.step_probabilities[place].argmax())
    return {
        "key": listed(found.keys),
        "gate": listed(found.gates),
        "halting": halting,
        "weight": found.weights[place].item(),
        "answer": candidates[best],
        "probability": found.step_probabilities[place, best].item(),
    }
