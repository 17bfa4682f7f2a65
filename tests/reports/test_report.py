import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import altair as alt
import pytest
import vl_convert

from reports.blocks import Chart, Figure, as_markdown
from reports.charts.look import VEGA_LITE, page_spec
from reports.metrics import metrics
from reports.report import report
from reports.stored.artefacts import Artefacts, load
from reports.studies.fidelity import fidelity_csv
from reports.studies.graves.characters import characters_csv
from reports.studies.graves.runs import graves_csv
from reports.studies.halting import halting_csv
from reports.studies.nse.runs import nse_csv
from reports.tables import length_and_depth
from reports.tables.ablation import ablation_csv
from reports.tables.sweep import steps_csv
from reports.tables.timings import timings
from tests.reports.charts.reading import by_name, figures
from tests.reports.conftest import GRAVES, Edit
from tests.reports.write_traces import write_traces

DA, AA = "decomposable_attention", "adaptive_attention"
STUDIES = (
    *("fidelity/variants", "fidelity/timings", "halting/points", "halting/timings", *GRAVES),
    *(f"multihop/{name}" for name in ("results", "hops", "timings")),
    *(f"sizes/{name}" for name in ("points", "laws", "curves", "timings")),
)


@pytest.fixture(scope="module")
def drawn(artefacts: Artefacts) -> dict[str, Figure]:
    return figures(artefacts)


def strings(value: Any) -> list[str]:
    """Every text in a definition."""
    if isinstance(value, dict):
        return [text for part in value.values() for text in strings(part)]
    if isinstance(value, list):
        return [text for part in value for text in strings(part)]
    return [value] if isinstance(value, str) else []


@pytest.mark.slow
def test_all_are_valid_and_compile_without_a_warning(
    drawn: dict[str, Figure], capfd: pytest.CaptureFixture[str]
) -> None:
    for figure in drawn.values():
        spec = page_spec(figure)
        vega = vl_convert.vegalite_to_vega(spec, vl_version=VEGA_LITE, show_warnings=True)
        assert vega["marks"]
        legends = {**spec["config"]["legend"]}
        del legends["layout"]  # Vega's own: Vega-Lite's schema has it as an expression alone
        spec["config"] = spec["config"] | {"legend": legends}
        alt.LayerChart.from_dict(spec)  # raises where it is not valid
    said = capfd.readouterr()
    assert "WARN" not in said.out + said.err


def test_they_are_as_wide_as_their_place_and_fetch_nothing(drawn: dict[str, Figure]) -> None:
    for name, figure in drawn.items():
        assert figure.spec["width"] == "container", name
        assert not any("://" in text for text in strings(page_spec(figure))), name
        assert not {"$schema", "config", "facet", "hconcat", "vconcat"} & set(figure.spec), name


def test_legends_of_series_answer_to_clicks(drawn: dict[str, Figure]) -> None:
    for name in (
        "ablation",
        "multihop_steps",
        f"learning_curves_{AA}",
        "halting",
        f"fidelity_{DA}",
    ):
        vega = vl_convert.vegalite_to_vega(page_spec(drawn[name]), vl_version=VEGA_LITE)
        entries = vega["legends"][0]["encode"]["entries"]
        assert (entries["name"], entries["interactive"]) == ("series_legend_entries", True), name


def test_every_mark_that_has_data_tells_it(drawn: dict[str, Figure]) -> None:
    for name, figure in drawn.items():
        assert '"tooltip"' in json.dumps(figure.spec), name


def test_alternatives_are_sentences_with_numbers(drawn: dict[str, Figure]) -> None:
    for name, figure in drawn.items():
        said = figure.alternative
        assert said.endswith(".") and any(mark.isdigit() for mark in said), name
        assert not set("[]\n<>`*|") & set(said), name  # they stand in markdown as they are


@pytest.mark.slow
def test_each_of_many_models_has_figures_of_its_own_once(many: Artefacts) -> None:
    blocks = [block for block in report(many, published=True) if isinstance(block, Chart)]
    names = {block.name for block in blocks}
    assert len(blocks) == len(names)
    for model in (AA, f"{AA}_ponder_net"):
        for kind in ("ponder_weight", "ponder_steps", "steps_by_epoch", "steps"):
            assert f"{kind}_{model}" in names
    halting = ("ponder_weight", "steps")
    assert not {f"{kind}_{AA}_fixed_steps" for kind in halting} & names
    assert {f"learning_curves_{model}" for model in many.models} <= names


def test_a_grid_of_one_point_has_no_slices(folder: Path, edit: Edit) -> None:
    edit("sweep/trials.csv", lambda row: row | {"dropout": "0.1", "learning_rate": "0.001"})
    edit("sweep/trials.csv", lambda row: row | {"ponder_weight": row["ponder_weight"] and "0.1"})
    names = figures(load(folder))
    assert f"sweep_curves_{AA}" in names and f"slices_{AA}" not in names


def test_no_section_and_no_figure_without_its_data(
    folder: Path, edit: Edit, no_nse: Callable[[], None]
) -> None:
    no_nse()
    for file in ("evaluate/depth", "ablate/dev", "ablate/test", *STUDIES):
        edit(f"{file}.csv", lambda row: None)
    edit("sweep/trials.csv", lambda row: row | {"ponder_weight": row["ponder_weight"] and "0.1"})
    artefacts = load(folder)
    blocks = report(artefacts, published=True)
    names = [*(f"learning_curves_{m}" for m in (DA, AA)), f"steps_{AA}", "step_accuracy"]
    names += [f"{kind}_{m}" for m in (DA, AA) for kind in ("sweep_curves", "slices")]
    assert set(by_name(blocks)) == set(names)
    text = as_markdown(blocks)
    assert "depth 1" not in text and "Fixed against adaptive" not in text
    assert "Multi-hop" not in text and "multihop" not in "".join(metrics(artefacts))
    assert "With the same weights" not in text
    assert "What explains" not in text and "Ways of halting" not in text
    assert "Graves' tasks" not in text and "Steps during training" not in text
    assert "Reading comprehension" not in text and "index.html#questions" not in text
    for table in (ablation_csv, characters_csv, fidelity_csv, graves_csv, halting_csv, steps_csv):
        assert len(table(artefacts).splitlines()) == 1
    assert len(nse_csv(artefacts, published=True).splitlines()) == 1
    assert "Studies" not in as_markdown(timings(artefacts))


def test_characters_alone(folder: Path, edit: Edit) -> None:
    for file in GRAVES:
        edit(f"{file}.csv", lambda row: row if row["task"] == "characters" else None)
    artefacts = load(folder)
    text = as_markdown(report(artefacts, published=False))
    assert "## Graves' tasks: adaptive computation in recurrent networks\n\n### Characters" in text
    assert "*Sequence error*" not in text and "figures/characters_passage_1.png" in text
    for published in ("Graves reports", "Munkhdalai & Yu 2017 report", "arXiv", "83.8"):
        assert published not in text


def test_no_section_on_steps_where_no_model_takes_any(folder: Path, edit: Edit) -> None:
    for file in ("results", "depth", "lengths", "correlations", "paired", "predictions"):
        edit(f"evaluate/{file}.csv", lambda row: None if row["model"] == AA else row)
    for file in ("retrain/trials", "retrain/history", "ablate/dev", "ablate/test"):
        edit(f"{file}.csv", lambda row: None if row["model"] == AA else row)
    write_traces(folder, [])
    artefacts = load(folder)
    text = as_markdown(report(artefacts, published=True))
    assert f"figures/steps_{AA}" not in text and "## Steps, labels" not in text
    depths = length_and_depth.depth_table(artefacts).rows
    assert [row[1] for row in depths] == ["accuracy, %"]


def test_ties_are_told(folder: Path) -> None:
    path = folder / "select_best" / "best.json"
    path.write_text(path.read_text().replace('"tied": 1', '"tied": 3'))
    artefacts = load(folder)
    text = as_markdown(report(artefacts, published=True))
    assert "of 3 with its dev accuracy, by the rule: highest dev accuracy; then lower" in text
