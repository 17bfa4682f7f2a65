"""Plan trials: cluster settings, the digest of the data, keys; and the state of the sweep."""

from pathlib import Path

from actmodels.records import TrialRecord
from pipeline.parameters.load import Params, load_params
from pipeline.parameters.trials import sweep_trials
from pipeline.runtime.results import read_json
from pipeline.runtime.stage import artifacts, project, state_folder
from tune.asked_trials import AskedTrials
from tune.early_stopping import SuccessiveHalving
from tune.execution import Execution
from tune.grid import Trial, with_keys
from tune.search import SEARCHES, OptunaSearch
from tune.store import TrialStore, checkpoint_name


def execution_settings(params: Params) -> Execution:
    """Return the section `cluster` with absolute paths, as workers have other current folders."""
    settings = dict(params.cluster)
    for key in ("storage", "state"):
        if "://" not in settings[key]:
            settings[key] = str(project() / Path(settings[key]).expanduser())
    finished = settings.pop("state")
    place = {"state": state_folder(), "finished": finished, "dataset": params.corpus.source}
    return Execution(artifacts("tensors"), **place, **settings)


def data_digest() -> str:
    """Return the digest of the data that stage `tensors` wrote."""
    return str(read_json("tensors", "manifest.json")["digest"])


def planned_trials(params: Params, execution: Execution) -> list[Trial]:
    """Return the trials of the sweep, or the candidates of its search, as in params.yaml."""
    stopping, rule = params.sweep.early_stopping, None
    if stopping.rule == "successive_halving":
        rule = SuccessiveHalving(stopping.grace_period, stopping.reduction_factor)
    search = SEARCHES[params.sweep.search](params.sweep.trials, params.sweep.search_seed)
    configs = search.draw(sweep_trials(params.sweep))
    sequential = search if isinstance(search, OptunaSearch) else None
    return with_keys(configs, data_digest(), execution, rule, sequential)


def sweep_status() -> str:
    """Return how many trials of the grid finished, started or failed, and the best on dev.

    Raises:
        ArtifactError: the data of the sweep is missing.
    """
    params = load_params()
    execution = execution_settings(params)
    store, checkpoints = TrialStore(execution.trials), execution.checkpoints

    def load(trial: Trial) -> TrialRecord | None:
        return store.load(trial.key, needs_weights=False)

    asked = AskedTrials(planned_trials(params, execution), execution.trials, load)
    finished: list[tuple[Trial, TrialRecord]] = []
    states = dict.fromkeys(("finished", "started", "failed", "waiting"), 0)
    for trial in asked.trials:
        state = "waiting"
        if record := load(trial):
            finished.append((trial, record))
            state = "finished"
        elif (execution.failures / f"{trial.name}.txt").exists():
            state = "failed"
        elif checkpoints.exists(checkpoint_name(trial.key)):
            state = "started"
        states[state] += 1
    states["waiting"] += asked.remaining
    counts = ", ".join(f"{count} {name}" for name, count in states.items())
    lines = [f"sweep: {asked.total} trials: {counts}"]
    if finished:
        trial, record = max(finished, key=lambda pair: pair[1].best.dev_accuracy)
        best = record.best
        result = f"dev {100 * best.dev_accuracy:.1f} %, epoch {best.epoch}"
        lines.append(f"best so far: {trial.name} ({result})")
    return "\n".join(lines)
