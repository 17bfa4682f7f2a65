"""Trials on sentence pairs, on sequences and on cloze questions, side by side."""

import json
from pathlib import Path

from actmodels.kinds import any_trial_from_dict
from actmodels.provenance import PACKAGE, code_files
from tests.actmodels.comprehension.samples import reading_config
from tests.actmodels.sequences.samples import sample_trial as sequence_trial
from tests.samples import sample_trial


def names(model: str) -> set[str]:
    return {Path(path).relative_to(PACKAGE).as_posix() for path in code_files(model)}


def test_each_comes_back_as_its_own_kind() -> None:
    for config in (sample_trial("adaptive_attention"), sequence_trial(), reading_config()):
        stored = json.loads(json.dumps(config.as_dict()))
        assert any_trial_from_dict(stored) == config


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
