"""Stage `report`: tables, figures and text from the artefacts of all earlier stages."""

from pipeline.parameters.load import load_params
from pipeline.running.stage import artefacts, run_stage, state_folder
from reports.render import write_report
from tune.results import log_report


def main() -> None:
    """Write artefacts/report/ and log it to MLflow."""
    params = load_params().report
    folder = artefacts("report")
    metrics = write_report(artefacts(), folder, params.published, params.examples)
    log_report(folder, metrics, state_folder())


if __name__ == "__main__":
    run_stage(main)
