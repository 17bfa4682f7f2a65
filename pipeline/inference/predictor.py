"""Predict labels, probabilities and inference steps for pairs of sentences."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from typing import Any, NamedTuple

import torch

from actmodels.data.pairs import FIRST_WORD, Batch, batches_by_length, collate
from actmodels.errors import UserError, shown
from actmodels.registry import MODELS
from actmodels.tracing import TRACED, trace
from pipeline.datasets.encode import encode
from pipeline.datasets.tokenizer import is_word, read_parse, tokenize
from pipeline.datasets.tokens import TokenPair
from pipeline.inference.bundle import Bundle
from pipeline.inference.steps import described_steps

DIGITS = 6  # decimals of probabilities and weights
BATCH_SIZE = 64
MAX_TOKENS = 1000  # per sentence; memory grows quadratically (the longest in SNLI has 82)


class PairError(UserError):
    """The model cannot read a pair; the message states the reason without the pair."""


class PairPrediction(NamedTuple):
    """The prediction of a model for one pair.

    Attributes:
        predicted: most probable label; None if refused.
        probabilities: probability of each label; None if refused.
        steps: number of inference steps; None for a model without steps, or if refused.
        unknown_words: distinct tokens outside the vocabulary, which share one vector.
        attention: see `pipeline.inference.steps.described_steps`; None unless requested.
        refusal: why there is no answer; None if there is one.
    """

    predicted: str | None
    probabilities: dict[str, float] | dict[str, None]
    steps: int | None
    unknown_words: list[str]
    attention: dict[str, Any] | None
    refusal: str | None = None

    @property
    def reliable(self) -> bool:
        """Return whether there is an answer, and the vocabulary has all words (not all marks)."""
        return self.refusal is None and not any(map(is_word, self.unknown_words))

    def row(self) -> dict[str, Any]:
        """Return a table row: the fields of PairPrediction without attention, and `reliable`."""
        rest = {"steps": self.steps, "unknown_words": self.unknown_words}
        verdict = {"reliable": self.reliable, "refusal": self.refusal}
        return {"predicted": self.predicted, **self.probabilities, **rest, **verdict}


class Predictor:
    """Run an exported model on sentences; predictions do not depend on the batch."""

    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle
        self._ids = {word: FIRST_WORD + rank for rank, word in enumerate(bundle.words)}
        # With the deviations of the 2016 code, a prediction can depend on the rest of its batch.
        self._batch_size = 1 if getattr(bundle.model, "depends_on_batch", False) else BATCH_SIZE

    def tokenize(self, premise: object, hypothesis: object) -> TokenPair:
        """Tokenize two sentences, or parse two binary parses for a model that reads parses.

        Raises:
            PairError: a sentence is not text or not a parse, is empty, or is too long.
        """
        premise_tokens, premise_tree = self._tokenize_sentence("premise", premise)
        tokens, tree = self._tokenize_sentence("hypothesis", hypothesis)
        return TokenPair("", self.bundle.classes[0], 0, premise_tokens, tokens, premise_tree, tree)

    def _tokenize_sentence(self, part: str, text: object) -> tuple[list[str], list[int] | None]:
        if not isinstance(text, str):
            raise PairError(f"the {part} is {_abbreviate(text)}; expected text")
        if any("\ud800" <= character <= "\udfff" for character in text):
            raise PairError(f"the {part} holds half a character (a lone surrogate)")
        model, tree = self.bundle.config.model, None
        if MODELS[model].reads_parses:
            parse = read_parse(text.lower() if self.bundle.lowercase else text)
            if parse is None:
                raise PairError(
                    f"the {part} is not a binary parse, which {model} requires; expected a parse "
                    "such as ( ( a man ) sleeps )"
                )
            tokens, tree = parse
        else:
            tokens = list(tokenize(text, self.bundle.lowercase))
        if not tokens:
            raise PairError(f"the {part} has no words")
        if len(tokens) > MAX_TOKENS:
            raise PairError(f"the {part} has {len(tokens)} tokens; expected at most {MAX_TOKENS}")
        return tokens, tree

    def predict(
        self, pairs: Sequence[TokenPair], *, attention: bool = False
    ) -> list[PairPrediction]:
        """Predict tokenized pairs; the predictions keep their order."""
        if not pairs:
            return []
        tensors = encode(pairs, self._ids, self.bundle.classes).tensors
        predictions: dict[int, PairPrediction] = {}
        for rows in batches_by_length(tensors, self._batch_size):
            batch = collate(tensors, rows, null_token=self.bundle.config.input.null_token)
            batch_pairs = [pairs[row] for row in rows.tolist()]
            results = self._predict_batch(batch, batch_pairs, attention)
            predictions |= zip(rows.tolist(), results, strict=True)
        return [predictions[row] for row in range(len(pairs))]

    @torch.no_grad()
    def _predict_batch(
        self, batch: Batch, pairs: list[TokenPair], attention: bool
    ) -> Iterator[PairPrediction]:
        model, classes = self.bundle.model, self.bundle.classes
        null_token = self.bundle.config.input.null_token
        output = model(batch)
        attended: Iterable[dict[str, Any] | None] = repeat(None, len(pairs))
        if attention and isinstance(model, TRACED):
            traced = trace(model, batch)
            attended = described_steps(traced, pairs, classes, null_token=null_token, digits=DIGITS)
        steps = [None] * len(pairs) if output.steps is None else output.steps.int().tolist()
        probabilities = torch.softmax(output.logits, dim=1)
        labels = probabilities.argmax(dim=1).tolist()
        rounded = probabilities.double().round(decimals=DIGITS).tolist()
        columns = (pairs, labels, rounded, steps, attended)
        for pair, label, row, pair_steps, described in zip(*columns, strict=True):
            tokens = dict.fromkeys(pair.premise + pair.hypothesis)
            unknown = [token for token in tokens if token not in self._ids]
            if refusal := self._refusal(pair):
                yield self.refused(refusal, unknown)
            else:
                by_class = dict(zip(classes, row, strict=True))
                yield PairPrediction(classes[label], by_class, pair_steps, unknown, described)

    def refused(self, refusal: str, unknown: Sequence[str] = ()) -> PairPrediction:
        """Return the prediction for a pair without an answer."""
        nothing = dict.fromkeys(self.bundle.classes)
        return PairPrediction(None, nothing, None, [*unknown], None, refusal)

    def _refusal(self, pair: TokenPair) -> str | None:
        parts = {"premise": pair.premise, "hypothesis": pair.hypothesis}
        for part, tokens in parts.items():
            if not any(token in self._ids and is_word(token) for token in tokens):
                return f"no known word in the {part}"
        return None


def _abbreviate(value: object) -> str:
    if value is None or value != value:  # NaN, the missing value of pandas
        return "missing"
    text = shown(value)
    return text if len(text) <= 40 else text[:40] + "..."
