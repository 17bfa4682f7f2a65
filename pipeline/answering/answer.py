"""Pairs of sentences to answers: the label, its probabilities, and the steps behind them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from actmodels.data.batching import Batch, batches_by_length, collate
from actmodels.data.pairs import FIRST_WORD, LABELS
from actmodels.errors import UserError
from actmodels.models.alternating import AlternatingAttention
from actmodels.trace import trace
from pipeline.answering.bundle import Bundle
from pipeline.sources.encode import encode
from pipeline.sources.tokens import TokenPair
from pipeline.sources.treebank import tokenise

DIGITS = 6  # of probabilities and weights
BATCH = 64  # pairs at a time
LONGEST = 1000  # tokens of a sentence; memory grows with their square (SNLI's longest has 82)


class PairError(UserError):
    """A pair that cannot be asked about; `problem` says why, without saying which pair."""


class Answer(NamedTuple):
    """What a model says about a pair.

    predicted: the likeliest label. probabilities: of each label.
    steps: inference steps taken, None for a model that takes none.
    attention: None unless asked for and known; else
        premise, hypothesis: the tokens, behind "<null>" where the model has a NULL token
        trace: per step taken its halting_probability, its weight in the answer, the class and
            class_probabilities if its state alone were classified, and premise_attention and
            hypothesis_attention over the tokens
    """

    predicted: str
    probabilities: dict[str, float]
    steps: int | None
    attention: dict[str, Any] | None

    def row(self) -> dict[str, Any]:
        """Flat, as tables have it: predicted, a column per label, steps."""
        return {"predicted": self.predicted, **self.probabilities, "steps": self.steps}


class Answerer:
    """A model that is asked about sentences. A batch gives what its pairs give one by one."""

    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle
        self.front = ["<null>"] if bundle.config.input.null_token else []
        self._ids: Mapping[str, int] = {
            word: FIRST_WORD + rank for rank, word in enumerate(bundle.words)
        }
        # with the deviations of 2016 an answer can depend on the other pairs of its batch
        self._batch = 1 if getattr(bundle.model, "mates_matter", False) else BATCH

    def read(self, premise: object, hypothesis: object) -> TokenPair:
        """Tokenise a pair.

        Raises:
            PairError: a sentence is no text, has no words, or too many.
        """
        sentences = [
            self._tokens(part, text)
            for part, text in (("premise", premise), ("hypothesis", hypothesis))
        ]
        return TokenPair("", LABELS[0], 0, *sentences)

    def _tokens(self, part: str, text: object) -> list[str]:
        if not isinstance(text, str):
            raise PairError(f"the {part} is {_shown(text)}; expected text")
        if any("\ud800" <= character <= "\udfff" for character in text):
            raise PairError(f"the {part} holds half a character (a lone surrogate)")
        tokens = tokenise(text, self.bundle.lowercase)
        if not tokens:
            raise PairError(f"the {part} has no words")
        if len(tokens) > LONGEST:
            raise PairError(f"the {part} has {len(tokens)} tokens; expected at most {LONGEST}")
        return list(tokens)

    def answers(self, pairs: Sequence[TokenPair], *, attention: bool = False) -> list[Answer]:
        """Ask about pairs that `read` gave; answers come in their order."""
        if not pairs:
            return []
        tensors = encode(pairs, self._ids).tensors
        found: dict[int, Answer] = {}
        for index in batches_by_length(tensors, self._batch):
            batch = collate(tensors, index, null_token=self.bundle.config.input.null_token)
            chosen = [pairs[place] for place in index.tolist()]
            found |= zip(index.tolist(), self._batch_answers(batch, chosen, attention), strict=True)
        return [found[place] for place in range(len(pairs))]

    @torch.no_grad()
    def _batch_answers(
        self, batch: Batch, pairs: list[TokenPair], attention: bool
    ) -> Iterator[Answer]:
        model = self.bundle.model
        prediction = model(batch)
        attended: list[dict[str, Any] | None] = [None] * len(pairs)
        if attention and isinstance(model, AlternatingAttention):
            attended = list(self._attended(model, batch, pairs))
        steps = [None] * len(pairs) if prediction.steps is None else prediction.steps.int().tolist()
        probabilities = torch.softmax(prediction.logits, dim=1)
        for place, row in enumerate(probabilities):
            likeliest = LABELS[int(row.argmax())]
            yield Answer(likeliest, by_label(row), steps[place], attended[place])

    def _attended(
        self, model: AlternatingAttention, batch: Batch, pairs: list[TokenPair]
    ) -> Iterator[dict[str, Any]]:
        """What the model looks at, pair by pair."""
        found = trace(model, batch)
        for place, pair in enumerate(pairs):
            premise, hypothesis = self.front + pair.premise, self.front + pair.hypothesis
            steps = [
                {
                    "step": n + 1,
                    "halting_probability": rounded(float(found.halting[place, n])),
                    "weight": rounded(float(found.weights[place, n])),
                    "class": LABELS[int(found.classes[place, n].argmax())],
                    "class_probabilities": by_label(found.classes[place, n]),
                    "premise_attention": _weights(found.premise[place, n], premise),
                    "hypothesis_attention": _weights(found.hypothesis[place, n], hypothesis),
                }
                for n in range(int(found.steps[place]))
            ]
            yield {"premise": premise, "hypothesis": hypothesis, "trace": steps}


def by_label(probabilities: Tensor) -> dict[str, float]:
    """Probabilities [labels] under their names."""
    return {label: rounded(p) for label, p in zip(LABELS, probabilities.tolist(), strict=True)}


def rounded(value: float) -> float:
    """A weight with as many digits as mean something."""
    return round(value, DIGITS)


def _weights(weights: Tensor, tokens: list[str]) -> list[float]:
    return [rounded(weight) for weight in weights[: len(tokens)].tolist()]


def _shown(value: object) -> str:
    """A value that is no text, short."""
    if value is None or value != value:  # pandas' mark of what is missing equals nothing
        return "missing"
    text = repr(value)
    return text if len(text) <= 40 else text[:40] + "..."
