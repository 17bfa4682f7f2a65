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
        (first, second), (mask, hidden_mask) = self.weights, self.masks
        inputs = inputs if mask is None else inputs * mask
        hidden = first(inputs).relu_()
        if hidden_mask is not None:
            hidden.mul_(hidden_mask)
        outputs = second(hidden).relu_()

        def back(gradient: Tensor) -> Tensor:
            gradient = relu_back(second.back(hidden, relu_back(gradient, outputs)), hidden)
            if hidden_mask is not None:
                gradient.mul_(hidden_mask)
            gradient = first.back(inputs, gradient)
            return gradient if mask is None else gradient.mul_(mask)

        return outputs, back


class DecomposableByHand(ByHand):
    """One forward pass over a batch; its output are the logits [batch, labels].

    The words of both sentences are rows of one matrix, the premises' first.

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
        self.classify = Weight(classify.weight, classify.bias)
        feed_forward = (weight for layer in self.layers for weight in layer.weights)
        self.weights = (self.project, *feed_forward, self.classify)
        self.inputs = (words, *(part for weight in self.weights for part in weight.inputs))
        self.trains_words = words.requires_grad
        self.to_words: Tensor | None = None  # gradient of the projected distinct words

    def output(self) -> tuple[Tensor, Callable[[Tensor], None]]:
        attend, compare, aggregate = self.layers
        with torch.inference_mode():
            words = self.project(self.words).index_select(0, self.rows)
            attending, attend_back = attend(words)
            aligned, align_back = self.align(self.split(attending), self.split(words))
            compared, compare_back = compare(torch.cat([words, aligned], -1))
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
            to_words, to_aligned = compare_back(to_compared).chunk(2, -1)
            to_attending, to_words = align_back(to_words, to_aligned)
            to_words.add_(attend_back(to_attending))
            distinct = to_words.new_zeros(len(self.words), to_words.shape[-1])
            self.to_words = distinct.index_add_(0, self.rows, to_words)
            self.project.uses.append((self.words, self.to_words))

        return logits.clone(), back

    def split(self, both: Tensor) -> list[Tensor]:
        """Split words of both sentences to [batch, premise, size] and [batch, hypothesis, size]."""
        premise, hypothesis = self.shapes
        count = premise.numel()
        return [both[:count].view(*premise, -1), both[count:].view(*hypothesis, -1)]

    def align(
        self, attending: Sequence[Tensor], words: Sequence[Tensor]
    ) -> tuple[Tensor, Callable[[Tensor, Tensor], TensorPair]]:
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

        def back(to_words: Tensor, to_aligned: Tensor) -> TensorPair:
            to_beta, to_alpha = self.split(to_aligned)
            to_scores = softmax_back(torch.bmm(to_beta, hypothesis.mT), over_hypothesis)
            to_scores += softmax_back(torch.bmm(to_alpha, premise.mT), over_premise).mT
            total, to_attending = torch.empty_like(aligned), to_scores.new_empty(*f_shape)
            (to_premise, to_hypothesis), (all_premise, all_hypothesis) = map(
                self.split, (to_words, total)
            )
            torch.baddbmm(to_premise, over_premise.mT, to_alpha, out=all_premise)
            torch.baddbmm(to_hypothesis, over_hypothesis.mT, to_beta, out=all_hypothesis)
            into_premise, into_hypothesis = self.split(to_attending)
            torch.bmm(to_scores, f_hypothesis, out=into_premise)
            torch.bmm(to_scores.mT, f_premise, out=into_hypothesis)
            return to_attending, total

        return aligned, back

    def gradients(self) -> list[Tensor | None]:
        """Return the gradients of words and weights."""
        assert self.to_words is not None
        to_words = self.to_words @ self.project.matrix if self.trains_words else None
        return [to_words, *(part for weight in self.weights for part in weight.gradients())]
