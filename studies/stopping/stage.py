"""Study `stopping`: what stops a network, on longer strings than those of training.

Every network is tested as it halts, with an exit by confidence, and after as many steps as bits.
"""

import torch

from actmodels.configs import ConfidenceExitConfig, FixedStepsConfig
from actmodels.halting.base import FixedSteps, Halting, build_halting
from actmodels.prediction import Prediction
from actmodels.registry import HALTINGS
from actmodels.seeding import generator
from pipeline.parameters.load import load_params
from pipeline.parameters.studies import study_section
from pipeline.runtime.results import TableRow
from pipeline.runtime.stage import artifacts, run_stage
from pipeline.statistics.aggregate import summarize
from pipeline.statistics.step_correlation import correlation
from pipeline.trials.execution import execution_settings
from pipeline.trials.study import Run, history_rows, result_row, train, with_weights, write_study
from studies.stopping.config import StoppingTrialConfig
from studies.stopping.network import StringNetwork, Strings, draw
from studies.stopping.section import Study, Testing, stopping_trials
from studies.stopping.tables import COLUMNS
from studies.stopping.training import evaluate

StoppingRun = Run[StoppingTrialConfig]
HALTED, BITS = "as halted", "steps = bits"  # exits, beside confidence


def plan(study: Study) -> list[StoppingRun]:
    """Return a run for each task, halting mechanism, grid point and seed."""
    runs = []
    for task in study.tasks:
        for mechanism in study.mechanisms:
            for point, config in stopping_trials(task, mechanism, study):
                settings = [f"{name.replace('_', ' ')} {value}" for name, value in point.items()]
                run = ", ".join([HALTINGS[mechanism].title, *settings])
                runs.append(Run({"task": task, "run": run}, config))
    return runs


def length_row(prediction: Prediction, strings: Strings) -> TableRow:
    """Return accuracy and steps on strings of one length."""
    right, steps = prediction.logits.argmax(dim=-1) == strings.targets, prediction.steps
    assert steps is not None
    return {
        "length": right.shape[1],
        "strings": right.all(dim=1).double().mean().item(),
        "bits": right.double().mean().item(),
        "mean_steps": steps.double().mean().item(),
        "correlation": correlation(steps.flatten().double(), strings.needed.flatten().double()),
    }


def length_rows(run: StoppingRun, model: StringNetwork, test: Testing) -> list[TableRow]:
    """Test a network on each length by each exit."""
    width, batch, rows = model.width, run.config.training.batch_size, list[TableRow]()
    for bits in test.bits:
        most = test.steps_per_bit * bits
        exits: dict[str, tuple[Halting | None, int | None]] = {
            HALTED: (None, None if isinstance(model.halting, FixedSteps) else most),
            f"confidence {test.confidence:g}": (
                build_halting(ConfidenceExitConfig(test.confidence), width),
                most,
            ),
            BITS: (build_halting(FixedStepsConfig(bits), width), bits),
        }
        task = run.config.task.task
        strings = draw(task, test.strings, bits, generator(f"test {task}", bits))
        for name, (halting, limit) in exits.items():
            if halting is not None:
                halting.eval()
            prediction = evaluate(model, strings, batch, halting, limit)
            rows.append(run.seeded | {"exit": name} | length_row(prediction, strings))
    return rows


def main() -> None:
    """Write artifacts/studies/stopping/."""
    params = load_params()
    study = study_section(params, Study)
    folder = artifacts("studies", "stopping")
    execution = execution_settings(params, data_folder=folder, dataset="strings")
    trained = train("stopping", plan(study), execution, "drawn")
    torch.set_num_threads(1)  # bit-identical results on any number of cores
    lengths = list[TableRow]()
    for run, _, weights in with_weights("stopping", trained, execution):
        config = run.config
        model = StringNetwork(config.task.task, config.network.width, config.halting)
        model.load_state_dict(torch.load(weights, weights_only=True))
        lengths += length_rows(run, model, study.evaluation)
    results = [result_row(run, record) for run, record in trained]
    named = [row | {"run": f"{row['run']}, seed {row['seed']}"} for row in results]
    summary = summarize(named, "task", "run", "dev_accuracy", "dev_mean_steps")
    tables = {"results": results, "lengths": lengths, "history": history_rows(trained)}
    write_study("stopping", trained, summary, COLUMNS, **tables)


if __name__ == "__main__":
    run_stage(main)
