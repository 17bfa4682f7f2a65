from dataclasses import replace
from pathlib import Path

import pytest

from reports.spread import MINUS
from reports.stored.artefacts import Artefacts, load
from reports.summary import summary
from tests.reports.conftest import GRAVES, Edit

DA, AA = "decomposable_attention", "adaptive_attention"
LEADS = ["**What was trained.**", "**What adaptive steps did.**", "**What was found.**"]


def parts(artefacts: Artefacts) -> list[str]:
    return summary(artefacts).split("\n\n")


def of_models(artefacts: Artefacts, *models: str) -> Artefacts:
    """As if only these had been retrained."""
    tables = {
        name: table[table["model"].isin(models)]
        for name in ("results", "paired", "predictions", "correlations", "ablation_test")
        if (table := getattr(artefacts, name)) is not None
    }
    return replace(artefacts, **tables)


def test_a_story_in_three_short_parts(artefacts: Artefacts) -> None:
    trained, did, found = parts(artefacts)
    assert [part.partition(".** ")[0] + ".**" for part in (trained, did, found)] == LEADS
    assert max(part.count(". ") for part in (trained, did, found)) <= 4  # the lead ends with one


def test_without_graves_tasks(folder: Path, edit: Edit) -> None:
    for file in GRAVES:
        edit(f"{file}.csv", lambda row: None)
    assert parts(load(folder))[1].startswith(f"{LEADS[1]} Adaptive Attention took 4.50")


def test_no_model_chooses_its_steps(artefacts: Artefacts) -> None:
    alone = of_models(artefacts, DA)
    trained, did, found = parts(alone)
    assert f"{LEADS[0]} Decomposable Attention was trained to tell" in trained
    assert "No model chooses its number of reasoning steps" in trained
    assert did.endswith("10.75 ± 0.88 at 8 entries that are not 0.")
    assert found == f"{LEADS[2]} Test accuracy is 81.0 ± 1.00 % for Decomposable Attention."
    bare = replace(alone, graves=artefacts.graves[:0])
    assert [part.partition(".** ")[0] + ".**" for part in parts(bare)] == [LEADS[0], LEADS[2]]


@pytest.mark.parametrize(
    ("mean", "low", "high", "said"),
    [
        (0.01, 0.002, 0.02, "clearly above Decomposable Attention (+1.00 points, 95 % interval +"),
        (0.01, -0.02, 0.04, "not clearly above Decomposable Attention (+1.00 points, 95 % interv"),
        (-0.01, -0.02, -0.002, f"clearly below Decomposable Attention ({MINUS}1.00 points"),
        (0.0, -0.01, 0.01, "level with Decomposable Attention (0.00 points"),
    ],
)
def test_models_side_by_side(
    artefacts: Artefacts, mean: float, low: float, high: float, said: str
) -> None:
    p = 0.5 if low <= 0 <= high else 0.001
    row = artefacts.paired[:1].assign(difference=mean, low=low, high=high, p=p)
    assert f"Adaptive Attention is {said}" in summary(replace(artefacts, paired=row))


@pytest.mark.parametrize(("source", "said"), [("captions", False), ("chains", True)])
def test_depth_is_told_where_steps_should_follow_it(
    artefacts: Artefacts, source: str, said: bool
) -> None:
    text = summary(replace(artefacts, corpus=artefacts.corpus | {"source": source}))
    assert ("takes more steps on the deepest pairs than on the shallowest" in text) is said


def test_of_many_models_few_are_named(many: Artefacts) -> None:
    text = summary(many)
    assert text.startswith(f"{LEADS[0]} 6 models were trained to tell")
    assert "Adaptive Attention; and Adaptive Attention, PonderNet choose their number" in text
    assert "Of 24 trials, each" in text
    assert "Of all models Adaptive Attention, PonderNet is best on dev; the others are in" in text
    assert text.count("95 % interval") == 2
    assert text.count("takes most steps") == 1
    assert "LSTM" not in text and "Word-by-Word" not in text and "Fixed" not in text
