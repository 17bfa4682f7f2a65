"""Stage `fidelity`: what each deviation from the papers costs, one change at a time.

Every variant starts from the configuration that was chosen for its model and differs in the
settings named in params.yaml; the first variant of a model is what the others are compared with.
"""

from typing import Any

import numpy as np

from actmodels.config import TrialConfig
from actmodels.data.pairs import PairTensors
from actmodels.data.subset import premise_groups
from actmodels.evaluation import Evaluation
from actmodels.figures import mean_and_sd
from actmodels.registry import as_published
from pipeline.measures.over_seeds import Row, summarise
from pipeline.measures.paired import Groups, Hits, against_first
from pipeline.parameters.load import load_params
from pipeline.parameters.schema import Params
from pipeline.running.results import write_json, write_table
from pipeline.running.stage import artefacts, run_stage
from pipeline.studies.study import Run, result_row, timing_rows, train
from pipeline.studies.variants import changed, chosen, scored
from pipeline.trained.trials import data_digest, execution_settings

RESULTS = (
    *("model", "variant", "seed", "key", "parameters", "epochs", "best_epoch", "diverged"),
    *("dev_accuracy", "dev_mean_steps", "dev_sd_steps", "ponder_weight_end"),
    *("test_accuracy", "test_pairs", "test_mean_steps"),
)


def plan(params: Params) -> list[Run[TrialConfig]]:
    """All variants with all seeds, in the order of params.yaml."""
    study, common = params.fidelity, params.sweep.settings
    runs = []
    for model, variants in study.models.items():
        base = chosen(model)
        for variant, changes in variants.items():
            for seed in study.seeds:
                kind = as_published(model, changes)
                config = changed(base, kind, common, changes, study, seed)
                runs.append(Run({"model": model, "variant": variant}, config))
    return runs


def on_test(result: Evaluation, pairs: int) -> tuple[dict[str, Any], Hits]:
    """What a run does on test, and its hits [pairs]: nan where it scored no such pair."""
    hits = np.full(pairs, np.nan)
    hits[result.rows.numpy()] = (result.predictions == result.labels).double().numpy()
    mean_steps, _ = mean_and_sd(result.steps)
    figures = {"test_accuracy": result.accuracy, "test_pairs": len(result.rows)}
    return figures | {"test_mean_steps": mean_steps}, hits


def compare_variants(
    params: Params, rows: list[Row], hits: list[Hits], groups: Groups
) -> list[Row]:
    """One line per variant; each is compared with the first variant of its model."""
    study, table = params.fidelity, []
    of_model = dict.fromkeys(study.models, groups)
    found = against_first(rows, hits, "model", "variant", of_model, seeds_paired=True)
    for own, together in found:
        model, variant = own[0]["model"], own[0]["variant"]
        changes = study.models[model][variant]
        said = ", ".join(f"{name}: {value}" for name, value in changes.items())
        table.append({"model": model, "variant": variant, "changes": said, **together})
    return table


def main() -> None:
    """Write artefacts/fidelity/."""
    params = load_params()
    folder = artefacts("fidelity")
    runs, execution = plan(params), execution_settings(params)
    digest = data_digest() if runs else ""
    trained = train("fidelity", runs, execution, lambda _: digest)
    test = PairTensors.load(artefacts("tensors", "test.pt"))
    rows: list[Row] = []
    hits: list[Hits] = []
    for run, record, result in scored("fidelity", trained, test, execution.trials):
        figures, hit = on_test(result, len(test))
        rows.append(result_row(run, record) | figures)
        hits.append(hit)
    variants = compare_variants(params, rows, hits, premise_groups(test).numpy())
    write_table(folder / "results.csv", rows, list(RESULTS))
    write_table(folder / "variants.csv", variants)
    write_table(folder / "timings.csv", timing_rows(trained))
    kept = ("seeds", "test_accuracy_mean", "difference")
    write_json(folder / "summary.json", summarise(variants, "model", "variant", kept))


if __name__ == "__main__":
    run_stage(main)
