"""Answers are those of evaluation and of the trace, whatever else is in the batch."""

import json
from pathlib import Path

import pytest
import torch

from actmodels.configs import LABELS
from actmodels.data.pairs import collate
from actmodels.evaluation import evaluate
from actmodels.models.alternating import AlternatingAttention
from actmodels.registry import MODELS
from actmodels.tracing import trace
from pipeline.datasets.encode import encode
from pipeline.datasets.parses import folded
from pipeline.datasets.tokenizer import tokenize
from pipeline.inference.answer import LONGEST, Answerer, PairAnswer, PairError
from pipeline.inference.bundle import read_bundle
from pipeline.inference.registered import signature
from pipeline.inference.steps import described_steps
from tests.pipeline.tiny_export import PAIRS, VOCABULARY, write_tiny
from tests.samples import sample_trial

IDS = {word: 3 + rank for rank, word in enumerate(VOCABULARY)}


def answerer_of(model: str, folder: Path, **settings: object) -> Answerer:
    write_tiny(folder, sample_trial(model, **settings))
    return Answerer(read_bundle(folder))


def close(found: PairAnswer, expected: PairAnswer) -> bool:
    """Equal but for rounding in the last of six digits."""
    pairs = zip(found.probabilities.items(), expected.probabilities.items(), strict=True)
    near = all(a == b and abs(x - y) <= 2e-6 for (a, x), (b, y) in pairs)
    return near and (found.predicted, found.steps) == (expected.predicted, expected.steps)


# some deviations of 2016 mix the examples of a batch, yet no answers
MIXING = {"scrambled_alignment": True, "batch_remainder": True}


@pytest.mark.parametrize(
    ("model", "settings"),
    [
        *((model, {"null_token": True}) for model in MODELS),
        ("adaptive_attention_as_published", MIXING),
    ],
)
def test_pairs_together_are_answered_as_alone(
    model: str, settings: dict[str, bool], tmp_path: Path
) -> None:
    answerer = answerer_of(model, tmp_path, **settings)
    asked = [[folded(tokenize(text, False)) for text in pair] for pair in PAIRS]
    pairs = [answerer.read(*p) for p in (asked if MODELS[model].reads_parses else PAIRS)]
    together = answerer.answers(pairs)
    alone = [answerer.answers([pair])[0] for pair in pairs]
    assert all(close(a, b) for a, b in zip(together, alone, strict=True))
    assert [answer.predicted for answer in answerer.answers(pairs[::-1])] == [
        answer.predicted for answer in together[::-1]
    ]


@pytest.mark.parametrize("model", ["adaptive_attention", "decomposable_attention"])
def test_answers_are_those_of_evaluation(model: str, tmp_path: Path) -> None:
    answerer = answerer_of(model, tmp_path, null_token=True)
    pairs = [answerer.read(*pair) for pair in PAIRS]
    config, scored = answerer.bundle.config, encode(pairs, IDS).tensors
    expected = evaluate(answerer.bundle.model, scored, config.input, batch_size=2)
    for place, answer in enumerate(answerer.answers(pairs)):
        shares = torch.softmax(expected.logits[place], dim=0).tolist()
        assert list(answer.probabilities.values()) == pytest.approx(shares, abs=2e-6)
        assert answer.predicted == LABELS[int(expected.predictions[place])]
        assert answer.steps == (None if expected.steps is None else expected.steps[place])
        assert answer.attention is None


def test_attention_is_that_of_the_trace(tmp_path: Path) -> None:
    answerer = answerer_of("adaptive_attention", tmp_path, null_token=True)
    pairs = [answerer.read(*pair) for pair in PAIRS]
    model = answerer.bundle.model
    assert isinstance(model, AlternatingAttention)
    for pair, answer in zip(pairs, answerer.answers(pairs, attention=True), strict=True):
        batch = collate(encode([pair], IDS).tensors, torch.tensor([0]), null_token=True)
        (expected,) = described_steps(trace(model, batch), [pair], null_token=True, digits=9)
        attention = answer.attention
        assert attention is not None and answer.steps == len(attention["trace"])
        assert attention["premise"] == ["<null>", *pair.premise]
        assert attention["hypothesis"] == ["<null>", *pair.hypothesis]
        for step, alone in zip(attention["trace"], expected["trace"], strict=True):
            shares, theirs = (one.pop("class_probabilities") for one in (step, alone))
            assert shares == pytest.approx(theirs, abs=2e-6)
            assert step.pop("class") == max(shares, key=shares.get) == alone.pop("class")
            assert all(step[name] == pytest.approx(alone[name], abs=2e-6) for name in alone)


def test_sentences_are_read_as_the_corpus_was(tmp_path: Path) -> None:
    answerer = answerer_of("adaptive_attention", tmp_path)
    pair = answerer.read("Word1 can't,\u00a0WORD2.", "\tword3  word4\n")
    assert pair.premise == ["word1", "ca", "n't", ",", "word2", "."]
    assert pair.hypothesis == ["word3", "word4"]


def test_mlflow_is_told_what_an_answer_holds(tmp_path: Path) -> None:
    answerer = answerer_of("adaptive_attention", tmp_path)
    assert answerer.answers([]) == []
    longest = " ".join(["word1"] * LONGEST)
    (answer,) = answerer.answers([answerer.read(longest, longest)])
    told = [column["name"] for column in json.loads(signature()["outputs"])]
    assert sorted(told) == sorted([*answer.row(), "attention"])


@pytest.mark.parametrize(
    ("hypothesis", "sentence"),
    [
        ("", "the hypothesis has no words"),
        (5, "the hypothesis is 5; expected text"),
        (None, "the hypothesis is missing; expected text"),
        (float("nan"), "the hypothesis is missing; expected text"),
        ("\ud800", r"the hypothesis holds half a character \(a lone surrogate\)"),
        ([10**5000], "the hypothesis is a number of thousands of digits; expected text"),
        ("a " * (LONGEST + 1), "the hypothesis has 1001 tokens; expected at most 1000"),
    ],
)
def test_what_is_no_sentence_is_told(hypothesis: object, sentence: str, tmp_path: Path) -> None:
    answerer = answerer_of("decomposable_attention", tmp_path)
    with pytest.raises(PairError, match=f"^{sentence}$"):
        answerer.read("word1", hypothesis)
    with pytest.raises(PairError, match=f"^{sentence.replace('hypothesis', 'premise')}$"):
        answerer.read(hypothesis, "word1")


def test_a_model_that_reads_parses_is_asked_about_parses(tmp_path: Path) -> None:
    answerer = answerer_of("spinn_pi", tmp_path)
    left, right = "( ( Word1 word2 ) -LRB- )", "( word1 ( word2 -LRB- ) )"
    read = answerer.read(left, right)
    assert read.premise == read.hypothesis == ["word1", "word2", "("]
    assert (read.premise_tree, read.hypothesis_tree) == ([0, 1, 1], [0, 0, 2])
    one, other = answerer.answers([answerer.read(left, left), answerer.read(right, left)])
    assert one.probabilities != other.probabilities
    problem = r"the hypothesis is no binary parse, which spinn_pi reads; expected one such as \( \("
    for text in ("word1 word2.", "( word1 word2", "", "( word1 word2 word3 )"):
        with pytest.raises(PairError, match=problem):
            answerer.read(left, text)
