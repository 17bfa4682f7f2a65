"""Stage `report`: render the report from the artifacts of all earlier stages."""

from pipeline.parameters.load import load_params
from pipeline.runtime.stage import artifacts, run_stage, state_folder
from reports.render import write_report
from tune.results import log_report


def main() -> None:
    """Write artifacts/report/ and log it to MLflow."""
    params = load_params().report
    folder = artifacts("report")
    metrics = write_report(artifacts(), folder, params.published, params.examples)
    log_report(folder, metrics, state_folder())


if __name__ == "__main__":
    run_stage(main)
