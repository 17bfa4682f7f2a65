"""Predictions match evaluation and trace, and do not depend on the batch."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from actmodels.registry import MODELS
from actmodels.training import evaluate
from pipeline.datasets.encode import encode
from pipeline.datasets.tokenizer import right_branching_parse, tokenize
from pipeline.inference.bundle import read_bundle
from pipeline.inference.predictor import MAX_TOKENS, PairError, PairPrediction, Predictor
from pipeline.inference.registry import signature
from tests.pipeline.project import transcribe
from tests.pipeline.tiny_export import PAIRS, VOCABULARY, write_tiny
from tests.samples import CLASSES, sample_trial

IDS = {word: 3 + rank for rank, word in enumerate(VOCABULARY)}


def predictor_of(model: str, folder: Path, **settings: object) -> Predictor:
    write_tiny(folder, sample_trial(model, **settings))
    return Predictor(read_bundle(folder))


def close(result: PairPrediction, expected: PairPrediction) -> bool:
    """Compare up to rounding of the sixth decimal."""
    pairs = zip(result.probabilities.items(), expected.probabilities.items(), strict=True)
    near = all(a == b and abs(x - y) <= 2e-6 for (a, x), (b, y) in pairs)
    return near and (result.predicted, result.steps) == (expected.predicted, expected.steps)


# deviations of the 2016 code that mix the examples of a batch
MIXING = {"scrambled_alignment": True, "batch_remainder": True}


@pytest.mark.parametrize(
    ("model", "settings"),
    [
        *((model, {"null_token": True}) for model in MODELS),
        ("adaptive_attention_as_published", MIXING),
    ],
)
def test_predictions_do_not_depend_on_the_batch(
    model: str, settings: dict[str, bool], tmp_path: Path
) -> None:
    predictor = predictor_of(model, tmp_path, **settings)
    parses = [[right_branching_parse(tokenize(text, False)) for text in pair] for pair in PAIRS]
    pairs = [predictor.tokenize(*p) for p in (parses if MODELS[model].reads_parses else PAIRS)]
    batched = predictor.predict(pairs)
    single = [predictor.predict([pair])[0] for pair in pairs]
    assert all(close(a, b) for a, b in zip(batched, single, strict=True))
    reverse = predictor.predict(pairs[::-1])
    assert [p.predicted for p in reverse[::-1]] == [p.predicted for p in batched]


@pytest.mark.parametrize("model", ["adaptive_attention", "decomposable_attention"])
def test_predictions_match_evaluation(model: str, tmp_path: Path) -> None:
    predictor = predictor_of(model, tmp_path, null_token=True)
    pairs = [predictor.tokenize(*pair) for pair in PAIRS]
    config, scored = predictor.bundle.config, encode(pairs, IDS, CLASSES).tensors
    expected = evaluate(predictor.bundle.model, scored, config.input, batch_size=2)
    for row, prediction in enumerate(predictor.predict(pairs)):
        probabilities = torch.softmax(expected.logits[row], dim=0).tolist()
        assert list(prediction.probabilities.values()) == pytest.approx(probabilities, abs=2e-6)
        assert prediction.predicted == CLASSES[int(expected.predictions[row])]
        assert prediction.steps == (None if expected.steps is None else expected.steps[row])
        assert prediction.attention is None


def test_a_known_mark_is_no_known_word(tmp_path: Path) -> None:
    write_tiny(tmp_path, sample_trial("decomposable_attention"))
    bundle = read_bundle(tmp_path)
    predictor = Predictor(replace(bundle, words=[".", *bundle.words[1:]]))
    pairs = [predictor.tokenize(premise, "word1 .") for premise in ("zorp .", "word2 ,", "zorp")]
    refused, answered, unknown = predictor.predict(pairs)
    assert refused.refusal == unknown.refusal == "no known word in the premise"
    assert (answered.refusal, answered.reliable, answered.unknown_words) == (None, True, [","])


def test_the_mlflow_signature_has_all_output_columns(tmp_path: Path) -> None:
    predictor = predictor_of("adaptive_attention", tmp_path)
    assert predictor.predict([]) == []
    longest = " ".join(["word1"] * MAX_TOKENS)
    (prediction,) = predictor.predict([predictor.tokenize(longest, longest)])
    columns = [column["name"] for column in json.loads(signature(CLASSES)["outputs"])]
    assert sorted(columns) == sorted([*prediction.row(), "attention"])


def test_sentences(tmp_path: Path, golden: Callable[..., None]) -> None:
    """The tokens are those of the corpus."""
    words, parses = (
        predictor_of(model, tmp_path / model) for model in ("adaptive_attention", "spinn_pi")
    )

    def tokenize(*sentences: object, of: Predictor = words) -> list[str]:
        try:
            pair = of.tokenize(*sentences)
        except PairError as error:
            return [str(error)]
        trees = filter(None, (pair.premise_tree, pair.hypothesis_tree))
        return [" ".join(pair.premise), " ".join(pair.hypothesis), *map(str, trees)]

    transcribe(golden, "sentences.txt", {"tokenize": tokenize, "parses": parses})


def test_a_model_that_reads_parses(tmp_path: Path) -> None:
    predictor = predictor_of("spinn_pi", tmp_path)
    left, right = "( ( Word1 word2 ) -LRB- )", "( word1 ( word2 -LRB- ) )"
    one, other = predictor.predict([predictor.tokenize(text, left) for text in (left, right)])
    assert one.probabilities != other.probabilities
