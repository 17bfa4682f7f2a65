"""Decomposable Attention with a hand-written backward pass, equal to the plain one (tested)."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch.nn import ReLU, Sequential

from actmodels.by_hand.parts import Back, ByHand, TensorPair, Weight, relu_back, softmax_back
from actmodels.modules.attention import FeedForward, SoftAlignment, masked
from actmodels.modules.dropout import Dropout
from actmodels.modules.linear import Linear
from actmodels.modules.projection import ProjectedWords

TYPES = (ProjectedWords, SoftAlignment, FeedForward, Sequential, Dropout, Linear, ReLU)


class FeedForwardByHand:
    """A FeedForward layer; masks: of both dropouts, None without dropout."""

    def __init__(self, layer: FeedForward, masks: Sequence[Tensor | None]) -> None:
        self.weights = [Weight(one.weight, one.bias) for one in layer.linear]
        self.masks = masks

    def __call__(self, inputs: Tensor) -> tuple[Tensor, Back]:
        """Return the outputs, and the backward pass, which overwrites its gradient."""
        first, mask = self.weights[0], self.masks[0]
        inputs = inputs if mask is None else inputs * mask
        outputs, hidden_back = self.from_hidden(first(inputs))

        def back(gradient: Tensor) -> Tensor:
            gradient = first.back(inputs, hidden_back(gradient))
            return gradient if mask is None else gradient.mul_(mask)

        return outputs, back

    def from_hidden(self, hidden: Tensor) -> tuple[Tensor, Back]:
        """Return the outputs from W1 · x, which it overwrites, and the backward pass to it."""
        second, mask = self.weights[1], self.masks[1]
        hidden.relu_()
        if mask is not None:
            hidden.mul_(mask)
        outputs = second(hidden).relu_()

        def back(gradient: Tensor) -> Tensor:
            gradient = relu_back(second.back(hidden, relu_back(gradient, outputs)), hidden)
            return gradient if mask is None else gradient.mul_(mask)

        return outputs, back


class TwoPartWeight(Weight):
    """A linear layer on [word; alignment] as two: `words`, without the bias, and `aligned`."""

    def __init__(self, matrix: Tensor, bias: Tensor | None) -> None:
        super().__init__(matrix, bias)
        left, right = self.matrix.chunk(2, -1)
        self.words, self.aligned = Weight(left, None), Weight(right, self.bias)

    def gradients(self) -> list[Tensor]:
        """Return the gradients of matrix and bias."""
        (left,), (right, *bias) = self.words.gradients(), self.aligned.gradients()
        return [torch.cat([left, right], -1), *bias]


class DecomposableByHand(ByHand):
    """One forward pass over a batch; its output are the logits [batch, labels].

    The tokens of both sentences are rows of one matrix, the premises' first. Without dropout what
    depends on a word alone is computed once for each distinct word: F, and G's first product.

    Args:
        words: vectors of the distinct words [words, dimensions].
        rows: row of each token in `words`: premise [batch, tokens], hypothesis [batch, tokens].
        masks: of both sentences, likewise.
        dropout: both masks of attend, compare and aggregate [words of both, units]; None without.
    """

    def __init__(
        self,
        words: Tensor,
        projection: Linear,
        layers: Sequence[FeedForward],
        classify: Linear,
        rows: Sequence[Tensor],
        masks: Sequence[Tensor],
        dropout: Sequence[Tensor | None],
    ) -> None:
        self.words, self.rows = words.detach(), torch.cat([each.flatten() for each in rows])
        self.shapes, self.masks = [each.shape for each in rows], masks
        self.project = Weight(projection.weight, None)
        pairs = zip(layers, zip(dropout[::2], dropout[1::2], strict=True), strict=True)
        self.layers = [FeedForwardByHand(*pair) for pair in pairs]
        self.compare_first: TwoPartWeight | None = None  # with dropout
        if dropout[0] is None:
            first = layers[1].linear[0]
            self.compare_first = TwoPartWeight(first.weight, first.bias)
            self.layers[1].weights[0] = self.compare_first
        self.classify = Weight(classify.weight, classify.bias)
        feed_forward = (weight for layer in self.layers for weight in layer.weights)
        self.weights = (self.project, *feed_forward, self.classify)
        self.inputs = (words, *(part for weight in self.weights for part in weight.inputs))
        self.trains_words = words.requires_grad
        self.to_words: Tensor | None = None  # gradient of the projected distinct words

    def output(self) -> tuple[Tensor, Callable[[Tensor], None]]:
        aggregate = self.layers[2]
        with torch.inference_mode():
            distinct = self.project(self.words)
            words = distinct.index_select(0, self.rows)
            attending, attend_back = self.attend(distinct, words)
            aligned, align_back = self.align(self.split(attending), self.split(words))
            compared, compare_back = self.compare(distinct, words, aligned)
            weights = [mask.to(words.dtype)[:, None] for mask in self.masks]
            sums = [torch.bmm(*each) for each in zip(weights, self.split(compared), strict=True)]
            aggregated, aggregate_back = aggregate(torch.cat(sums, -1).squeeze(1))
            logits = self.classify(aggregated)

        def back(gradient: Tensor) -> None:
            to_sums = aggregate_back(self.classify.back(aggregated, gradient))
            to_compared = torch.empty_like(compared)
            sides = zip(weights, to_sums.chunk(2, -1), self.split(to_compared), strict=True)
            for weight, each, place in sides:
                torch.mul(weight.mT, each[:, None], out=place)
            self.to_words, to_aligned = compare_back(to_compared)
            to_attending, to_tokens = align_back(to_aligned)
            self.to_words += attend_back(to_attending)
            self.to_words += self.summed(to_tokens)
            self.project.uses.append((self.words, self.to_words))

        return logits.clone(), back

    def summed(self, tokens: Tensor) -> Tensor:
        """Sum the gradients of tokens [tokens, size] to those of distinct words [words, size]."""
        return tokens.new_zeros(len(self.words), tokens.shape[-1]).index_add_(0, self.rows, tokens)

    def attend(self, distinct: Tensor, words: Tensor) -> tuple[Tensor, Back]:
        """Return F of each token, and the backward pass to the distinct words."""
        if self.compare_first is None:
            attending, back = self.layers[0](words)
            return attending, lambda gradient: self.summed(back(gradient))
        attending, back = self.layers[0](distinct)
        return attending.index_select(0, self.rows), lambda gradient: back(self.summed(gradient))

    def compare(
        self, distinct: Tensor, words: Tensor, aligned: Tensor
    ) -> tuple[Tensor, Callable[[Tensor], TensorPair]]:
        """Return G([word; alignment]), and the backward pass to distinct words and alignments."""
        layer, first = self.layers[1], self.compare_first
        if first is None:
            compared, back = layer(torch.cat([words, aligned], -1))

            def to_both(gradient: Tensor) -> TensorPair:
                to_words, to_aligned = back(gradient).chunk(2, -1)
                return self.summed(to_words), to_aligned

            return compared, to_both
        hidden = first.aligned(aligned).add_(first.words(distinct).index_select(0, self.rows))
        compared, back = layer.from_hidden(hidden)

        def to_each(gradient: Tensor) -> TensorPair:
            gradient = back(gradient)
            to_words = first.words.back(distinct, self.summed(gradient))
            return to_words, first.aligned.back(aligned, gradient)

        return compared, to_each

    def split(self, both: Tensor) -> list[Tensor]:
        """Split words of both sentences to [batch, premise, size] and [batch, hypothesis, size]."""
        premise, hypothesis = self.shapes
        count = premise.numel()
        return [both[:count].view(*premise, -1), both[count:].view(*hypothesis, -1)]

    def align(
        self, attending: Sequence[Tensor], words: Sequence[Tensor]
    ) -> tuple[Tensor, Callable[[Tensor], TensorPair]]:
        """Return the alignment of each word; see SoftAlignment."""
        (f_premise, f_hypothesis), (premise, hypothesis) = attending, words
        f_shape = (len(self.rows), f_premise.shape[-1])
        premise_mask, hypothesis_mask = self.masks
        scores = torch.bmm(f_premise, f_hypothesis.mT)
        over_hypothesis = torch.softmax(masked(scores, hypothesis_mask[:, None]), dim=-1)
        over_premise = torch.softmax(masked(scores.mT, premise_mask[:, None]), dim=-1)
        aligned = premise.new_empty(len(self.rows), premise.shape[-1])
        beta, alpha = self.split(aligned)
        torch.bmm(over_hypothesis, hypothesis, out=beta)
        torch.bmm(over_premise, premise, out=alpha)

        def back(to_aligned: Tensor) -> TensorPair:
            to_beta, to_alpha = self.split(to_aligned)
            to_scores = softmax_back(torch.bmm(to_beta, hypothesis.mT), over_hypothesis)
            to_scores += softmax_back(torch.bmm(to_alpha, premise.mT), over_premise).mT
            to_words, to_attending = torch.empty_like(aligned), to_scores.new_empty(*f_shape)
            to_premise, to_hypothesis = self.split(to_words)
            torch.bmm(over_premise.mT, to_alpha, out=to_premise)
            torch.bmm(over_hypothesis.mT, to_beta, out=to_hypothesis)
            into_premise, into_hypothesis = self.split(to_attending)
            torch.bmm(to_scores, f_hypothesis, out=into_premise)
            torch.bmm(to_scores.mT, f_premise, out=into_hypothesis)
            return to_attending, to_words

        return aligned, back

    def gradients(self) -> list[Tensor | None]:
        """Return the gradients of words and weights."""
        assert self.to_words is not None
        to_words = self.to_words @ self.project.matrix if self.trains_words else None
        return [to_words, *(part for weight in self.weights for part in weight.gradients())]
