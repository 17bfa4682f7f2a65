"""A new model or halting mechanism is one file with a decorator, also in another package.

tests/end_to_end/test_extending_page.py runs docs/extending.md, with a model and a study.
"""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import torch
from ruamel.yaml import YAML
from torch import Tensor, nn

from actmodels.configs import AdaptiveAttentionConfig
from actmodels.data.pairs import Batch
from actmodels.errors import ConfigError
from actmodels.halting.base import Halting, build_halting
from actmodels.halting.loop import adapt_steps
from actmodels.halting.states import Classify
from actmodels.halting.steps import Steps
from actmodels.models.adaptive_attention import AdaptiveAttention
from actmodels.models.pair_model import PairModel
from actmodels.modules.linear import Linear
from actmodels.modules.projection import ProjectedWords
from actmodels.prediction import Prediction
from actmodels.registry import (
    HALTINGS,
    MODELS,
    HaltingConfig,
    model_with,
    networks_in_steps,
    register_halting,
    register_model,
)
from actmodels.training import Training
from actmodels.trial_config import TrialConfig
from actmodels.validators import Count
from pipeline.datasets.tokens import write_token_pairs
from tests import model_checks
from tests.pipeline.project import read_output, write_params
from tests.pipeline.tiny_export import trained
from tests.samples import SETTINGS, sample_data, sample_trial

ROOT = Path(__file__).parents[1]
BAG, RECURRENT, EVEN = "bag_of_words", "recurrent_sums", "adaptive_attention_even_steps"


@dataclass(frozen=True)
class BagOfWordsConfig:
    width: Count


class BagOfWords(PairModel):
    """Sums the words of both sentences, and classifies the product of the sums."""

    settings = BagOfWordsConfig

    def __init__(self, config: BagOfWordsConfig, vectors: Tensor, classes: int) -> None:
        super().__init__()
        self.words = ProjectedWords(vectors, config.width, tanh=True)
        self.classify = Linear(config.width, classes)

    def sums(self, batch: Batch) -> tuple[Tensor, Tensor]:
        premise = (self.words(batch.premise) * batch.premise_mask[..., None]).sum(dim=-2)
        hypothesis = (self.words(batch.hypothesis) * batch.hypothesis_mask[..., None]).sum(dim=-2)
        return premise, hypothesis

    def forward(self, batch: Batch) -> Prediction:
        premise, hypothesis = self.sums(batch)
        return Prediction(self.classify(premise * hypothesis))


class RecurrentSums(BagOfWords):
    """Reads the sums in steps, with torch's own cell and dropout, which no fusion can have."""

    fusions = False
    halting: Halting

    def __init__(
        self, config: BagOfWordsConfig, halting: HaltingConfig, vectors: Tensor, classes: int
    ) -> None:
        super().__init__(config, vectors, classes)
        self.halting = build_halting(halting, config.width)
        self.cell, self.dropout = nn.GRUCell(2 * config.width, config.width), nn.Dropout(0.2)

    def forward(self, batch: Batch) -> Prediction:
        premise, hypothesis = self.sums(batch)
        inputs = self.dropout(torch.cat([premise, hypothesis], dim=-1))
        step = partial(self.cell, inputs)
        return adapt_steps(step, premise * hypothesis, self.halting, self.classify)


@dataclass(frozen=True)
class EvenStepsConfig:
    even_steps: Count


class EvenSteps(Halting):
    """A fixed number of steps, all of the same weight."""

    settings = EvenStepsConfig

    def __init__(self, config: EvenStepsConfig, state: int) -> None:
        super().__init__(config, state)
        self.max_steps = config.even_steps

    def probability(self, state: Tensor) -> Tensor:
        return state.new_zeros(state.shape[:-1])

    def has_halted(self, probabilities: Tensor) -> Tensor:
        *batch, steps = probabilities.shape
        return probabilities.new_full(batch, steps >= self.max_steps).bool()

    def answer(self, steps: Steps, classify: Classify) -> Prediction:
        *batch, count = steps.probabilities.shape
        weights = steps.probabilities.new_full(steps.probabilities.shape, 1 / count)
        taken = weights.new_full(batch, float(count))
        return Prediction(classify(steps.mean(weights)), taken, None, weights)


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """By the decorators, from outside the package."""
    before = dict(MODELS), dict(HALTINGS)
    register_halting("even_steps", "even steps")(EvenSteps)
    register_model(BAG)(BagOfWords)
    act = replace(MODELS[BAG], model=f"{__name__}:RecurrentSums", halting=HALTINGS["act"])
    monkeypatch.setitem(MODELS, RECURRENT, act)
    monkeypatch.setitem(SETTINGS, "even_steps", 3)
    yield
    for table, old in zip((MODELS, HALTINGS), before, strict=True):
        table.clear()
        table.update(old)


def test_the_decorators_register_every_combination() -> None:
    class Outside(AdaptiveAttention):
        settings = AdaptiveAttentionConfig

    assert {f"{name}_even_steps" for name in networks_in_steps()} <= MODELS.keys()
    register_model("outside", attends_by_word=True)(Outside)
    for name, halting in HALTINGS.items():
        model = MODELS[model_with("outside", name)]
        assert model.halting is halting and model.attends_by_word
    assert HALTINGS["even_steps"].title == "even steps"


@pytest.fixture(params=[BAG, RECURRENT, EVEN])
def config(request: pytest.FixtureRequest, registered: None) -> TrialConfig:
    return sample_trial(request.param, max_epochs=4)


@pytest.mark.parametrize("check", model_checks.CHECKS)
def test_it_passes_the_six_checks(
    config: TrialConfig, check: Callable[[TrialConfig], None]
) -> None:
    check(config)


def test_it_learns(config: TrialConfig) -> None:
    history = list(Training(config, sample_data()).epochs())
    assert history[-1].train_loss < history[0].train_loss


def params(folder: Path, model: str, grid: dict[str, Any]) -> Path:
    yaml, path = YAML(), folder / "params.yaml"
    tree = yaml.load((ROOT / "params.yaml").read_text())
    tree["sweep"]["models"][model] = {"settings": {}, "grid": grid}
    if model == EVEN:
        tree["sweep"]["settings"]["even_steps"] = 3
    yaml.dump(tree, path)
    return path


def test_params_yaml_knows_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sections = re.compile(r"pipeline\.parameters\..+|studies\.\w+\.section")
    for name in filter(sections.fullmatch, list(sys.modules)):
        monkeypatch.delitem(sys.modules, name)  # they read the registry when imported
    from pipeline.parameters.load import load_params

    load_params(params(tmp_path, BAG, {"width": [8, 16]}))
    load_params(params(tmp_path, RECURRENT, {"width": [8, 16]}))
    load_params(params(tmp_path, EVEN, {"even_steps": [2, 4]}))
    with pytest.raises(ConfigError, match=r"sweep\.models\.bag_of_words\.grid\.width\[0\] is 0"):
        load_params(params(tmp_path, BAG, {"width": [0]}))


@pytest.mark.parametrize("stage", ["ablate", "trace"])
def test_a_model_whose_steps_cannot_be_read_is_left_out(
    stage: str,
    registered: None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from pipeline.trials.models import model_in_steps

    monkeypatch.chdir(folder := tmp_path)
    trained(folder, sample_trial(RECURRENT))
    sample_data().dev.save(folder / "artifacts" / "tensors" / "test.pt")
    write_token_pairs(folder / "artifacts" / "vocabulary" / "test.tsv", [])
    write_params(folder)
    import_module(f"pipeline.{stage}").main()
    assert read_output(folder, stage) == {}
    problem = "recurrent_sums is not an AlternatingAttention, so its steps cannot be read"
    assert f"{stage}.model: {problem}: left out" in capsys.readouterr().err
    with pytest.raises(ConfigError, match=problem):
        model_in_steps(f"{stage}.model", RECURRENT)


PLUGIN = """
from dataclasses import dataclass
import torch
from actmodels.halting import Act, ActConfig, register_halting
from actmodels.models.adaptive_attention import AdaptiveAttention
from actmodels.configs import AdaptiveAttentionConfig
from actmodels.registry import register_model

@dataclass(frozen=True)
class LazyConfig(ActConfig):
    pass

@register_halting("lazy_act", "lazy ACT")
class LazyAct(Act):
    settings = LazyConfig

@register_model("outside_attention")
class Outside(AdaptiveAttention):
    settings = AdaptiveAttentionConfig
"""
USE = """
import sys
from actmodels.registry import MODELS
from pipeline.parameters.load import load_params
from tune.trials.grid import with_keys
from tests.samples import keyed, sample_trial
print("outside_attention_dact" in MODELS, "hop_attention_lazy_act" in MODELS)
load_params()
for name in ("outside_attention_lazy_act", "adaptive_attention"):
    print(keyed([sample_trial(name)])[0].key)
"""


def test_a_package_registers_models_and_mechanisms(tmp_path: Path) -> None:
    """By an entry point: params.yaml accepts them, and keys have a digest of their code."""
    (tmp_path / "lazy_models.py").write_text(PLUGIN)
    (folder := tmp_path / "lazy_models-1.dist-info").mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: lazy-models\nVersion: 1\n")
    (folder / "entry_points.txt").write_text("[actmodels]\nlazy = lazy_models\n")
    grid = {"width": [8], "state_size": [8], "gate_size": [8], "dropout": [0.0]}
    names = ("learning_rate", "epsilon", "ponder_weight", "batch_size")
    params(tmp_path, "outside_attention_lazy_act", grid | {n: [0.01] for n in names[:3]})
    environment = os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}"}

    def lines() -> list[str]:
        command = [sys.executable, "-c", USE]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    known, outside, ours = lines()
    assert known == "True True"
    (tmp_path / "lazy_models.py").write_text(PLUGIN + "CHANGE = 1\n")
    assert lines()[1] != outside and lines()[2] == ours
    (tmp_path / "lazy_models.py").write_text("1 / 0\n")
    command = [sys.executable, "-c", "import actmodels.registry"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert "lazy-models registers models in lazy_models, which cannot be imported" in done.stderr
