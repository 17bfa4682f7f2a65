"""Study `fidelity`: the effect of each deviation from the papers on test accuracy.

Each variant is the selected configuration of its model with the changes in params.yaml. The first
variant of a model is the reference of the others.
"""

from actmodels.data.pairs import PairTensors
from actmodels.data.trial_data import premise_groups
from actmodels.registry import published_model
from actmodels.trial_config import TrialConfig
from pipeline.parameters.load import load_params
from pipeline.parameters.schema import Params
from pipeline.parameters.studies import study_section
from pipeline.runtime.results import data_digest
from pipeline.runtime.stage import artifacts, run_stage
from pipeline.statistics.aggregate import summarize
from pipeline.statistics.paired import against_first, split_hits
from pipeline.trials.execution import best_config, execution_settings, with_overrides
from pipeline.trials.study import Run, evaluate_runs, result_row, train, write_study
from studies.fidelity.section import Study
from studies.fidelity.tables import COLUMNS


def plan(params: Params, study: Study) -> list[Run[TrialConfig]]:
    """Return a run for each variant and seed, in the order of params.yaml."""
    common, runs = params.sweep.settings, []
    for model, variants in study.models.items():
        base = best_config(model)
        for variant, changes in variants.items():
            name = published_model(model, changes)
            text = ", ".join(f"{key}: {value}" for key, value in changes.items())
            for seed in study.seeds:
                config = with_overrides(base, name, common, changes, study, seed)
                runs.append(Run({"model": model, "variant": variant, "changes": text}, config))
    return runs


def main() -> None:
    """Write artifacts/studies/fidelity/."""
    params = load_params()
    study, execution = study_section(params, Study), execution_settings(params)
    trained = train("fidelity", plan(params, study), execution, data_digest())
    test = PairTensors.load(artifacts("tensors", "test.pt"))
    rows = [
        result_row(run, record)
        | {"test_accuracy": result.accuracy, "test_pairs": len(result.rows)}
        | {"test_mean_steps": result.metrics.mean_steps, "hits": split_hits(result, len(test))}
        for run, record, result in evaluate_runs("fidelity", trained, test, execution)
    ]
    groups = dict.fromkeys(study.models, premise_groups(test).numpy())
    variants = against_first(rows, "model", "variant", groups, "changes", seeds_paired=True)
    kept = ("seeds", "test_accuracy_mean", "difference")
    summary = summarize(variants, "model", "variant", *kept)
    write_study("fidelity", trained, summary, COLUMNS, results=rows, variants=variants)


if __name__ == "__main__":
    run_stage(main)
