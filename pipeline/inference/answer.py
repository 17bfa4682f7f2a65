"""From pairs of sentences to answers: the label, its probabilities, and the steps."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from typing import Any, NamedTuple

import torch

from actmodels.configs import LABELS
from actmodels.data.pairs import FIRST_WORD, Batch, batches_by_length, collate
from actmodels.errors import UserError, shown
from actmodels.models.alternating import AlternatingAttention
from actmodels.registry import MODELS
from actmodels.tracing import trace
from pipeline.datasets.encode import encode
from pipeline.datasets.parses import read_parse
from pipeline.datasets.tokenizer import tokenize
from pipeline.datasets.tokens import TokenPair
from pipeline.inference.bundle import Bundle
from pipeline.inference.steps import by_label, described_steps

DIGITS = 6  # of probabilities and weights
BATCH = 64  # pairs at a time
LONGEST = 1000  # tokens of a sentence; memory grows with their square (SNLI's longest has 82)


class PairError(UserError):
    """A pair that cannot be answered; the message has the reason and not the pair."""


class PairAnswer(NamedTuple):
    """The answer of a model about a pair.

    predicted: the likeliest label. probabilities: of each label.
    steps: inference steps taken, None for a model that takes none.
    unknown_words: tokens outside the vocabulary, each once; they share one vector.
    attention: premise, hypothesis and trace, see pipeline.inference.steps; None unless asked for.
    """

    predicted: str
    probabilities: dict[str, float]
    steps: int | None
    unknown_words: list[str]
    attention: dict[str, Any] | None

    def row(self) -> dict[str, Any]:
        """Return predicted, a column per label, steps and unknown_words."""
        rest = {"steps": self.steps, "unknown_words": self.unknown_words}
        return {"predicted": self.predicted, **self.probabilities, **rest}


class Answerer:
    """A model that answers about sentences; the answers do not depend on the batch."""

    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle
        self._ids = {word: FIRST_WORD + rank for rank, word in enumerate(bundle.words)}
        # with the deviations of 2016 an answer can depend on the other pairs of its batch
        self._batch = 1 if getattr(bundle.model, "mates_matter", False) else BATCH

    def read(self, premise: object, hypothesis: object) -> TokenPair:
        """Tokenize a pair, or read its binary parses for a model that needs them.

        Raises:
            PairError: a sentence is no text or no parse, has no words, or too many.
        """
        first, tree = self._sentence("premise", premise)
        second, other = self._sentence("hypothesis", hypothesis)
        return TokenPair("", LABELS[0], 0, first, second, tree, other)

    def _sentence(self, part: str, text: object) -> tuple[list[str], list[int] | None]:
        """Return tokens, and their tree for a model that reads it."""
        if not isinstance(text, str):
            raise PairError(f"the {part} is {_shown(text)}; expected text")
        if any("\ud800" <= character <= "\udfff" for character in text):
            raise PairError(f"the {part} holds half a character (a lone surrogate)")
        model, tree = self.bundle.config.model, None
        if MODELS[model].reads_parses:
            parse = read_parse(text.lower() if self.bundle.lowercase else text)
            if parse is None:
                raise PairError(
                    f"the {part} is no binary parse, which {model} reads; expected one such as "
                    "( ( a man ) sleeps )"
                )
            tokens, tree = parse
        else:
            tokens = list(tokenize(text, self.bundle.lowercase))
        if not tokens:
            raise PairError(f"the {part} has no words")
        if len(tokens) > LONGEST:
            raise PairError(f"the {part} has {len(tokens)} tokens; expected at most {LONGEST}")
        return tokens, tree

    def answers(self, pairs: Sequence[TokenPair], *, attention: bool = False) -> list[PairAnswer]:
        """Answer pairs from `read`, in their order."""
        if not pairs:
            return []
        tensors = encode(pairs, self._ids).tensors
        found: dict[int, PairAnswer] = {}
        for index in batches_by_length(tensors, self._batch):
            own = [pairs[place] for place in index.tolist()]
            batch = collate(tensors, index, null_token=self.bundle.config.input.null_token)
            found |= zip(index.tolist(), self._batch_answers(batch, own, attention), strict=True)
        return [found[place] for place in range(len(pairs))]

    @torch.no_grad()
    def _batch_answers(
        self, batch: Batch, pairs: list[TokenPair], attention: bool
    ) -> Iterator[PairAnswer]:
        model, null_token = self.bundle.model, self.bundle.config.input.null_token
        prediction = model(batch)
        attended: Iterable[dict[str, Any] | None] = repeat(None, len(pairs))
        if attention and isinstance(model, AlternatingAttention):
            found = trace(model, batch)
            attended = described_steps(found, pairs, null_token=null_token, digits=DIGITS)
        steps = prediction.steps
        taken = [None] * len(pairs) if steps is None else steps.int().tolist()
        probabilities = torch.softmax(prediction.logits, dim=1)
        labels = probabilities.argmax(dim=1).tolist()
        rounded = probabilities.double().round(decimals=DIGITS).tolist()
        columns = (pairs, labels, rounded, taken, attended)
        for pair, label, shares, count, seen in zip(*columns, strict=True):
            tokens = dict.fromkeys(pair.premise + pair.hypothesis)
            unknown = [token for token in tokens if token not in self._ids]
            yield PairAnswer(LABELS[label], by_label(shares), count, unknown, seen)


def _shown(value: object) -> str:
    if value is None or value != value:  # pandas' mark of what is missing equals nothing
        return "missing"
    text = shown(value)
    return text if len(text) <= 40 else text[:40] + "..."
