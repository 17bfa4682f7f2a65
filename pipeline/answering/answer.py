"""Pairs of sentences to answers: the label, its probabilities, and the steps behind them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import torch

from actmodels.data.labels import LABELS
from actmodels.data.pairs import FIRST_WORD, Batch, batches_by_length, collate
from actmodels.errors import UserError, shown
from actmodels.models.alternating import AlternatingAttention
from actmodels.registry import MODELS
from actmodels.steps import trace
from pipeline.answering.bundle import Bundle
from pipeline.answering.steps import by_label, told_steps
from pipeline.sources.encode import encode
from pipeline.sources.parses import read_parse
from pipeline.sources.tokens import TokenPair
from pipeline.sources.treebank import tokenise

DIGITS = 6  # of probabilities and weights
BATCH = 64  # pairs at a time
LONGEST = 1000  # tokens of a sentence; memory grows with their square (SNLI's longest has 82)


class PairError(UserError):
    """A pair that cannot be asked about; `problem` says why, without saying which pair."""


class PairAnswer(NamedTuple):
    """What a model says about a pair.

    predicted: the likeliest label. probabilities: of each label.
    steps: inference steps taken, None for a model that takes none.
    unknown_words: tokens outside the vocabulary, each once; all of them have one and the same
        vector.
    attention: premise, hypothesis and trace, see pipeline.answering.steps; None unless asked for
        and known.
    """

    predicted: str
    probabilities: dict[str, float]
    steps: int | None
    unknown_words: list[str]
    attention: dict[str, Any] | None

    def row(self) -> dict[str, Any]:
        """As tables have it: predicted, a column per label, steps, unknown_words."""
        shown = {"steps": self.steps, "unknown_words": self.unknown_words}
        return {"predicted": self.predicted, **self.probabilities, **shown}


class Answerer:
    """A model that is asked about sentences. A batch gives what its pairs give one by one."""

    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle
        self._ids: Mapping[str, int] = {
            word: FIRST_WORD + rank for rank, word in enumerate(bundle.words)
        }
        # with the deviations of 2016 an answer can depend on the other pairs of its batch
        self._batch = 1 if getattr(bundle.model, "mates_matter", False) else BATCH

    def read(self, premise: object, hypothesis: object) -> TokenPair:
        """Tokenise a pair, or read its binary parses for a model that needs them.

        Raises:
            PairError: a sentence is no text or no parse, has no words, or too many.
        """
        first, tree = self._sentence("premise", premise)
        second, other = self._sentence("hypothesis", hypothesis)
        return TokenPair("", LABELS[0], 0, first, second, tree, other)

    def _sentence(self, part: str, text: object) -> tuple[list[str], list[int] | None]:
        """Tokens, and their tree for a model that reads it."""
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
            tokens = list(tokenise(text, self.bundle.lowercase))
        if not tokens:
            raise PairError(f"the {part} has no words")
        if len(tokens) > LONGEST:
            raise PairError(f"the {part} has {len(tokens)} tokens; expected at most {LONGEST}")
        return tokens, tree

    def answers(self, pairs: Sequence[TokenPair], *, attention: bool = False) -> list[PairAnswer]:
        """Ask about pairs that `read` gave; answers come in their order."""
        if not pairs:
            return []
        tensors = encode(pairs, self._ids).tensors
        found: dict[int, PairAnswer] = {}
        for index in batches_by_length(tensors, self._batch):
            batch = collate(tensors, index, null_token=self.bundle.config.input.null_token)
            chosen = [pairs[place] for place in index.tolist()]
            found |= zip(index.tolist(), self._batch_answers(batch, chosen, attention), strict=True)
        return [found[place] for place in range(len(pairs))]

    @torch.no_grad()
    def _batch_answers(
        self, batch: Batch, pairs: list[TokenPair], attention: bool
    ) -> Iterator[PairAnswer]:
        model = self.bundle.model
        prediction = model(batch)
        attended: list[dict[str, Any] | None] = [None] * len(pairs)
        if attention and isinstance(model, AlternatingAttention):
            told = told_steps(
                trace(model, batch),
                pairs,
                null_token=self.bundle.config.input.null_token,
                digits=DIGITS,
            )
            attended = list(told)
        steps = [None] * len(pairs) if prediction.steps is None else prediction.steps.int().tolist()
        probabilities = torch.softmax(prediction.logits, dim=1)
        labels = probabilities.argmax(dim=1).tolist()
        shown = probabilities.double().round(decimals=DIGITS).tolist()
        for place, label in enumerate(labels):
            tokens = dict.fromkeys(pairs[place].premise + pairs[place].hypothesis)
            unknown = [token for token in tokens if token not in self._ids]
            shares = by_label(shown[place])
            yield PairAnswer(LABELS[label], shares, steps[place], unknown, attended[place])


def _shown(value: object) -> str:
    """A value that is no text, short."""
    if value is None or value != value:  # pandas' mark of what is missing equals nothing
        return "missing"
    text = shown(value)
    return text if len(text) <= 40 else text[:40] + "..."
