"""What trials need to run: settings of the cluster, the data's digest, and keys."""

from collections.abc import Sequence
from pathlib import Path

from actmodels.trial_config import BaseTrialConfig
from pipeline.parameters.load import Params
from pipeline.parameters.trials import sweep_trials
from pipeline.runtime.results import read_json
from pipeline.runtime.stage import artifacts, project, state_folder
from tune.early_stopping import SuccessiveHalving
from tune.execution import Execution
from tune.grid import Trial, with_keys


def execution_settings(params: Params) -> Execution:
    """Return the section `cluster` with absolute paths, as workers have other current folders."""
    settings = dict(params.cluster)
    for key in ("storage", "state"):
        if "://" not in settings[key]:
            settings[key] = str(project() / Path(settings[key]).expanduser())
    finished = settings.pop("state")
    return Execution(artifacts("tensors"), state=state_folder(), finished=finished, **settings)


def data_digest() -> str:
    """Return the digest of the data that stage `tensors` wrote."""
    return str(read_json("tensors", "manifest.json")["digest"])


def add_keys(
    digest: str,
    configs: Sequence[BaseTrialConfig],
    execution: Execution,
    early_stopping: SuccessiveHalving | None = None,
) -> list[Trial]:
    """Return the trials of configurations that are trained on data with this digest."""
    return with_keys(
        configs,
        data_digest=digest,
        device=execution.device,
        threads=execution.threads,
        precision=execution.matmul_precision,
        early_stopping=early_stopping,
    )


def planned_trials(params: Params, execution: Execution) -> list[Trial]:
    """Return the trials of the sweep, in the order of params.yaml."""
    stopping, rule = params.sweep.early_stopping, None
    if stopping.rule == "successive_halving":
        rule = SuccessiveHalving(stopping.grace_period, stopping.reduction_factor)
    return add_keys(data_digest(), sweep_trials(params.sweep), execution, rule)
