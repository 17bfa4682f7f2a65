"""The OOV rule `trained`: which rows are trained, and no other difference."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from actmodels.data.pairs import FIRST_WORD, NULL, PAD, UNKNOWN
from actmodels.models.pair_model import parameter_count
from actmodels.modules.projection import ProjectedWords
from actmodels.training import Training
from tests import model_checks
from tests.samples import DIMENSIONS, WORDS, sample_batch, sample_data, sample_trial

TRAINED_WORDS = [FIRST_WORD + word for word in (4, 12, 20, 28, 36)]  # no vector, in training
FIXED_WORDS = [FIRST_WORD + word for word in (0, 8, 16, 24, 32)]  # no vector, not in training
SOME_MODELS = ("decomposable_attention", "adaptive_attention", "word_by_word_attention")


def test_a_table_looks_up_and_trains_its_own_rows_where_it_has_them() -> None:
    vectors = torch.randn(9, 4)
    words = ProjectedWords(vectors, 3, tanh=False)
    words.train_words(torch.tensor([2, 5, 7]))
    ids = torch.tensor([[0, 2, 5], [7, 8, 2]])
    assert torch.equal(words.look_up(ids), vectors[ids])
    with torch.no_grad():
        words.trained.copy_(torch.tensor([[20.0], [50.0], [70.0]]).expand(3, 4))
    expected = vectors.clone()
    expected[[2, 5, 7]] = words.trained.detach()
    assert torch.equal(words.look_up(ids), expected[ids])
    words.look_up(torch.tensor([[0, 5, 8, 5]])).sum().backward()
    assert words.trained.grad.tolist() == [[0.0] * 4, [2.0] * 4, [0.0] * 4]


@pytest.mark.parametrize("model", SOME_MODELS)
def test_an_untrained_model_is_that_of_the_rule_own(model: str) -> None:
    """The rule draws no random numbers: same parameters, same scores."""
    own, trained = (model_checks.make(sample_trial(model, oov_rule=r)) for r in ("own", "trained"))
    assert "words.trained" in trained.state_dict() and "words.trained" not in own.state_dict()
    assert torch.equal(own(sample_batch()).logits, trained(sample_batch()).logits)
    assert parameter_count(own) == parameter_count(trained)
    rows = (1 + len(TRAINED_WORDS)) * DIMENSIONS
    assert sum(p.numel() for p in trained.parameters()) == parameter_count(trained) + rows


def looked_up(training: Training) -> Tensor:
    with torch.no_grad():
        return training.model.words.look_up(torch.arange(FIRST_WORD + WORDS)[None])[0].clone()


@pytest.mark.parametrize("model", SOME_MODELS)
@pytest.mark.parametrize(
    ("optimizer", "rule"), [("adam", "trained"), ("adagrad", "trained"), ("adam", "all_trained")]
)
def test_trained_rows_change_in_training_and_no_other_ever(
    model: str, optimizer: str, rule: str
) -> None:
    config = sample_trial(model, oov_rule=rule, optimizer=optimizer, null_token=True)
    training = Training(config, sample_data())
    before, vectors = looked_up(training), training.model.words.vectors.clone()
    assert torch.equal(before, vectors)
    list(training.epochs())
    changed = (looked_up(training) != before).any(dim=1).nonzero().squeeze(1).tolist()
    in_train = FIRST_WORD + training.data.words.in_train.nonzero()[:, 0]
    expected = TRAINED_WORDS if rule == "trained" else in_train.tolist()
    assert changed == [NULL, *expected]
    assert not {PAD, UNKNOWN, *FIXED_WORDS} & set(changed)
    assert torch.equal(training.model.words.vectors, vectors)


def test_l2_is_half_the_squared_norm_in_the_loss() -> None:
    """The gradient gains l2 times the parameter, embedding_l2 times a trained word vector."""
    config = sample_trial("decomposable_attention", oov_rule="trained", dropout=0.0)
    decayed = replace(config, training=replace(config.training, l2=0.5, embedding_l2=0.25))
    gradients = []
    for one in (config, decayed):
        model = Training(one, sample_data()).model
        batch = sample_batch()
        model.objective(model(batch), batch.labels).backward()
        gradients.append({name: p.grad for name, p in model.named_parameters()})
    for name, parameter in model.named_parameters():
        weight = 0.25 if name == "words.trained" else 0.5
        expected = gradients[0][name] + weight * parameter
        torch.testing.assert_close(gradients[1][name], expected)
