"""Trials on sentence pairs, on sequences and on cloze questions, side by side."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from actmodels.errors import ConfigError
from actmodels.kinds import AnyTrialConfig, any_trial_from_dict
from actmodels.provenance import PACKAGE, code_files
from tests.actmodels.comprehension.samples import reading_config
from tests.actmodels.sequences.samples import sample_trial as sequence_trial
from tests.samples import sample_trial

SAMPLES = [sample_trial("adaptive_attention"), sequence_trial(), reading_config()]


def names(model: str) -> set[str]:
    return {Path(path).relative_to(PACKAGE).as_posix() for path in code_files(model)}


def test_each_comes_back_as_its_own_kind() -> None:
    for config in SAMPLES:
        stored = json.loads(json.dumps(config.as_dict()))
        assert any_trial_from_dict(stored) == config


def settings(stored: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Each single value of nested dictionaries, with its path."""
    if isinstance(stored, dict):
        for name, value in stored.items():
            yield from settings(value, (*path, name))
    else:
        yield path, stored


def changed(stored: dict[str, Any], path: tuple[str, ...], value: object) -> dict[str, Any]:
    copy = json.loads(json.dumps(stored))
    node = copy
    for name in path[:-1]:
        node = node[name]
    node[path[-1]] = value
    return copy


@pytest.mark.parametrize("config", SAMPLES, ids=lambda config: config.model)
def test_every_number_is_finite_and_whole_ones_make_no_other_trial(config: AnyTrialConfig) -> None:
    stored = config.as_dict()
    numbers = [path for path, value in settings(stored) if isinstance(value, float)]
    assert len(numbers) >= 4
    whole = 0
    for path in numbers:
        for wrong in (math.inf, -math.inf, math.nan):
            said = f"{path[-1]} is {wrong}; must be a finite number"
            with pytest.raises(ConfigError, match=said):
                any_trial_from_dict(changed(stored, path, wrong))
        try:
            found = [any_trial_from_dict(changed(stored, path, one)).as_dict() for one in (1, 1.0)]
        except ConfigError:
            continue  # out of range
        assert json.dumps(found[0]) == json.dumps(found[1]), path
        whole += 1
    assert whole


def test_a_sequence_trial_rests_on_its_own_code() -> None:
    own = names("parity_rnn_act")
    assert {"sequences/training.py", "sequences/parity.py", "halting/act.py"} <= own
    assert "progress.py" in own
    assert not {"training.py", "models/adaptive_attention.py", "sequences/settings.py"} & own


def test_a_reader_rests_on_its_own_code() -> None:
    own = names("nse_query_gating")
    assert {"comprehension/training.py", "comprehension/reader.py", "progress.py"} <= own
    assert "comprehension/embeddings.py" in own  # what its rows are drawn with
    assert not {"training.py", "sequences/training.py", "comprehension/settings.py"} & own


def test_trials_on_pairs_rest_on_neither() -> None:
    others = ("sequences/", "comprehension/")
    assert not [name for name in names("adaptive_attention") if name.startswith(others)]
