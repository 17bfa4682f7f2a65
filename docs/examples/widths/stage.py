"""Study `widths`: the best configuration of a model at other widths, by dev accuracy."""

from actmodels.trial_config import TrialConfig
from pipeline.parameters.load import load_params
from pipeline.parameters.schema import Params
from pipeline.parameters.studies import study_section
from pipeline.runtime.results import data_digest
from pipeline.runtime.stage import run_stage
from pipeline.statistics.aggregate import grouped, over_seeds
from pipeline.trials.execution import best_config, execution_settings, with_overrides
from pipeline.trials.study import Run, result_row, train, write_study
from studies.widths.section import Study
from studies.widths.tables import COLUMNS


def plan(params: Params, study: Study) -> list[Run[TrialConfig]]:
    """Return every width with every seed."""
    common, base, runs = params.sweep.settings, best_config(study.model), []
    for width in study.widths:
        for seed in study.seeds:
            config = with_overrides(base, base.model, common, {"width": width}, study, seed)
            runs.append(Run({"model": base.model, "width": width}, config))
    return runs


def main() -> None:
    """Write artifacts/studies/widths/."""
    params = load_params()
    runs = plan(params, study_section(params, Study))
    trained = train("widths", runs, execution_settings(params), data_digest())
    rows = [result_row(run, record) for run, record in trained]
    points = [
        {"model": model, "width": width, "seeds": len(group), **over_seeds(group, "dev_accuracy")}
        for (model, width), group in grouped(rows, "model", "width").items()
    ]
    write_study("widths", trained, {}, COLUMNS, points=points)


if __name__ == "__main__":
    run_stage(main)
