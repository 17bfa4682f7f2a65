"""Stage `report`: render the report from the artifacts of all earlier stages."""

from pathlib import Path

from actmodels.files import file_digest
from pipeline.parameters.load import load_params
from pipeline.parameters.studies import study_part
from pipeline.runtime.results import data_digest, read_json
from pipeline.runtime.stage import artifacts, is_experiment, run_stage, state_folder
from pipeline.runtime.summary import summary
from pipeline.trials.compare import comparison, load_sweep
from reports.blocks import Section
from reports.render import write_report
from reports.sections.comparison import comparison_section
from tune.tracking.results import log_evaluation, log_report
from tune.trials.provenance import provenance_tags

EVALUATIONS = ("lexical_baseline", "evaluate", "ablate")  # their metrics are runs of MLflow, too


def compared(other: str | None) -> list[Section]:
    """Return the comparison of the sweep with another one, if one is named."""
    if other is None:
        return []
    sweeps = {name: load_sweep(of, Path()) for name, of in (("this sweep", "."), (other, other))}
    return [comparison_section(other, *comparison(sweeps))]


def main() -> None:
    """Write artifacts/report/, and log it and the evaluations to MLflow."""
    params = load_params()
    studies = {name: study_part(name, "report").STUDY for name in params.studies}
    folder = artifacts("report")
    further = compared(params.report.compared)
    metrics = write_report(artifacts(), folder, studies, params.report.examples, further)
    tags = provenance_tags() | {"data_digest": data_digest()}
    for stage in EVALUATIONS:
        if result := read_json(stage, "summary.json"):
            group = file_digest(artifacts(stage, "summary.json"))[:16]
            log_evaluation(stage, group, tags, result, state_folder())
    log_report(folder, metrics, state_folder())
    if is_experiment():  # `make repro` prints it itself, also if no stage has changed
        print(summary(), flush=True)


if __name__ == "__main__":
    run_stage(main)
