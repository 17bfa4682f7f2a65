"""The lines of trials.csv."""

from dataclasses import replace

from actmodels.records import EpochRecord, TrialRecord
from pipeline.trained.trials import trial_row
from tests.samples import sample_trial

EPOCH = EpochRecord(1, 0.5, 0.5, 3.0, 1.0, 3.5, 0.9, 0.6, 3.2, 0.5, 3.9, ponder_weight=0.0005)


def test_a_setting_stays_what_was_set() -> None:
    """Half of the ponder weight held in the epoch that was kept: both have a column."""
    config = sample_trial("adaptive_attention_supervised_act", ponder_weight=0.001)
    row = trial_row(TrialRecord("k", config.as_dict(), 100, (EPOCH,), {"data": "d"}))
    assert (row["ponder_weight"], row["ponder_weight_end"]) == (0.001, 0.0005)
    assert {name: row[name] for name in config.flat()} == config.flat()


def test_the_figures_are_those_of_the_best_epoch() -> None:
    worse = replace(EPOCH, epoch=2, dev_accuracy=0.5)
    config = sample_trial("decomposable_attention")
    row = trial_row(TrialRecord("k", config.as_dict(), 100, (EPOCH, worse), {"data": "d"}))
    assert (row["epochs"], row["best_epoch"], row["dev_accuracy"]) == (2, 1, 0.6)
