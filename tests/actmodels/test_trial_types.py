"""All trial types: sentence pairs, multi-hop pairs, sequences and cloze questions."""

from pathlib import Path
from typing import Any

import pytest

from actmodels.errors import ConfigError
from actmodels.registry import load_class
from actmodels.trial_config import BaseTrialConfig, TrialConfig
from studies.cloze.config import ReaderTrialConfig, build_reader_trial
from studies.sequences.config import SequenceTrialConfig, build_sequence_trial
from tests.samples import sample_trial
from tests.studies.cloze.samples import reader_trial
from tests.studies.multihop.samples import multihop_trial
from tests.studies.sequences.samples import sample_trial as sequence_trial
from tune.trials.provenance import PACKAGE, code_files

SAMPLES = [
    sample_trial("adaptive_attention"),
    multihop_trial(),
    sequence_trial(),
    reader_trial(),
]

ADAPTIVE = "actmodels/models/adaptive_attention.py"


def names(config: BaseTrialConfig) -> set[str]:
    return {Path(path).relative_to(PACKAGE.parent).as_posix() for path in code_files(config)}


def test_the_code_of_every_type_loads() -> None:
    for config in SAMPLES:
        code = (config.loader, config.trainer, config.fused_trainer)
        assert all(load_class(name) for name in code if name)


def built(config: BaseTrialConfig, settings: dict[str, Any]) -> BaseTrialConfig:
    limits = {"max_epochs": 1, "patience": 0, "seed": 0}
    if isinstance(config, SequenceTrialConfig):
        return build_sequence_trial(config.task_name, config.halting_name, settings, **limits)
    if isinstance(config, ReaderTrialConfig):
        return build_reader_trial(config.questions, settings, **limits)
    assert isinstance(config, TrialConfig)
    return type(config).build(config.model, settings, **limits)


@pytest.mark.parametrize("config", SAMPLES, ids=lambda config: config.model)
def test_all_problems_of_settings_are_reported_together(config: BaseTrialConfig) -> None:
    settings = {name: value for part in config.parts for name, value in vars(part).items()}
    del settings["learning_rate"]
    with pytest.raises(ConfigError) as caught:
        built(config, settings | {"color": "red"})
    starts = ["color is not a setting of ", "learning_rate of "]
    problems = caught.value.problems
    assert all(p.startswith(start) for p, start in zip(problems, starts, strict=True)), problems


def test_the_code_of_a_trial_is_that_of_its_type() -> None:
    pairs, multihop, sequences, reader = (names(config) for config in SAMPLES)
    training = "actmodels/training.py"
    assert {"actmodels/model_training.py", training, ADAPTIVE} <= pairs
    assert not [name for name in pairs if name.startswith("studies/")]
    declared = {f"actmodels/{name}.py" for name in ("configs", "registry", "validators")}
    assert not declared & pairs  # their values are in the key
    assert {training, "studies/multihop/training.py", "studies/multihop/corpus.py"} <= multihop
    assert "studies/multihop/config.py" not in multihop
    files = {f"studies/sequences/{name}.py" for name in ("training", "drawn_tasks")}
    assert {"actmodels/models/act_rnn.py", "actmodels/halting/act.py", *files} <= sequences
    assert not {training, ADAPTIVE, "studies/sequences/config.py"} & sequences
    files = {f"studies/cloze/{name}.py" for name in ("training", "model", "data", "memory")}
    assert {"actmodels/model_training.py", *files} <= reader
    assert not {training, "studies/sequences/training.py", "studies/cloze/config.py"} & reader
