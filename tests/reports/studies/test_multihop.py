from pathlib import Path

import pytest

from reports.blocks import DASH
from reports.stored.artefacts import Artefacts, load
from reports.studies.multihop import model_name, multihop_runs, multihop_table, trained_hops
from tests.reports.conftest import Edit


def test_runs_by_hand(artefacts: Artefacts) -> None:
    act, fixed = multihop_runs(artefacts)
    assert (act.model, act.settings, act.seeds) == ("hop_attention", "ponder_weight 0.001", 2)
    assert [spread.mean for spread in act.accuracy.values()] == [1.0, 0.97, 0.95, 0.92, 0.75, 0.55]
    assert (act.steps[1].mean, act.steps[4].mean, act.steps[6].mean) == (1.1, 4.1, 5.2)
    # seeds 1 and 2 at 5 and 6 hops: (0.8 + 0.6) / 2 and (0.7 + 0.5) / 2
    assert act.untrained_accuracy is not None and act.untrained_accuracy.mean == 0.65
    assert act.untrained_accuracy.sd == pytest.approx(0.005**0.5)
    assert act.correlations == (0.95, 0.91)
    assert fixed.correlation is None and trained_hops(artefacts) == 4


def test_the_table_by_hand(artefacts: Artefacts) -> None:
    table = multihop_table(artefacts)
    assert table.header[2:4] == ["1 hop, %", "2 hops, %"]
    assert table.header[7:9] == ["6 hops, untrained, %", "mean steps at 1 hop"]
    act, fixed = table.rows
    assert act[:2] == ["Hop Attention, ACT, ponder_weight 0.001", "2"]
    # at 5 hops 0.8 and 0.7: sd 0.1 / sqrt(2)
    assert act[2:4] == ["100.0 ± 0.00", "97.0 ± 1.41"] and act[6] == "75.0 ± 7.07"
    assert act[8:] == ["1.10 ± 0.14", "4.10 ± 0.14", "+0.93 (+0.91 to +0.95)"]
    assert fixed[8:] == ["2.00 ± 0.00", "2.00 ± 0.00", DASH]


def test_pairs_weigh_the_depths(folder: Path, edit: Edit) -> None:
    edit("multihop/hops.csv", lambda row: row | {"pairs": "900" if row["hops"] == "5" else "300"})
    # seeds 1 and 2: (3 * 0.8 + 0.6) / 4 and (3 * 0.7 + 0.5) / 4
    untrained = multihop_runs(load(folder))[0].untrained_accuracy
    assert untrained is not None and untrained.mean == 0.7


def test_a_model_without_steps(folder: Path, edit: Edit) -> None:
    edit("multihop/hops.csv", lambda row: row | {"mean_steps": ""})
    artefacts = load(folder)
    assert all(run.steps == {} and run.trained_steps is None for run in multihop_runs(artefacts))
    assert multihop_table(artefacts).rows[0][8:10] == [DASH, DASH]


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("hop_attention", "Hop Attention, ACT"),
        ("hop_attention_ponder_net", "Hop Attention, PonderNet"),
        ("decomposable_attention", "Decomposable Attention"),
    ],
)
def test_names_have_the_halting_mechanism(model: str, name: str) -> None:
    assert model_name(model) == name
