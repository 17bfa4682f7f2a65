"""Stage `fidelity`: what each deviation from the papers costs, one change at a time.

Every variant starts from the configuration that was chosen for its model and differs in the
settings named in params.yaml; the first variant of a model is what the others are compared with.
"""

import statistics
from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
from tqdm import tqdm

from actmodels.data.embeddings import WordVectors
from actmodels.data.pairs import PairTensors
from actmodels.evaluation import evaluate
from actmodels.figures import mean_and_sd
from actmodels.registry import as_published
from actmodels.rows.columns import columns
from actmodels.rows.studies import Variant, VariantTime
from pipeline.measures.paired import Comparison, Hits, compare
from pipeline.parameters.load import load_params
from pipeline.parameters.schema import Params
from pipeline.running.results import write_summary, write_table
from pipeline.running.stage import artefacts, run_stage
from pipeline.studies.study import Run, changed, chosen, run_row, summarise, timing_row, train
from pipeline.trained.retrained import load_model
from pipeline.trained.trials import execution_settings
from tune.selection import sample_sd
from tune.store import TrialStore

RESULTS = (
    *("model", "variant", "seed", "key", "parameters", "epochs", "best_epoch", "diverged"),
    *("dev_accuracy", "dev_mean_steps", "dev_sd_steps", "ponder_weight_end"),
    *("test_accuracy", "test_pairs", "test_mean_steps"),
)


def plan(params: Params) -> list[Run]:
    """All variants with all seeds, in the order of params.yaml."""
    study, common = params.fidelity, params.sweep.settings
    runs = []
    for model, variants in study.models.items():
        base = chosen(model)
        for variant, changes in variants.items():
            for seed in study.seeds:
                config = changed(
                    base,
                    as_published(model, changes),
                    common,
                    changes,
                    max_epochs=study.max_epochs,
                    patience=study.patience,
                    seed=seed,
                )
                runs.append(Run({"model": model, "variant": variant}, config))
    return runs


class TestSplit:
    """The test split, on which each trained run is scored once."""

    def __init__(self, store: TrialStore) -> None:
        torch.set_num_threads(1)  # the same bits whatever the machine's number of cores
        self.store = store
        self.words = WordVectors.load(artefacts("tensors", "embedding.pt"))
        self.pairs = PairTensors.load(artefacts("tensors", "test.pt"))

    def score(self, run: Run, key: str) -> tuple[dict[str, Any], Hits]:
        """Test figures of a run, and its hits [pairs]: nan where it scored no such pair."""
        config = run.config
        model = load_model(config, self.words, self.store.weights_path(key), "fidelity")
        result = evaluate(model, self.pairs, config.input)
        hits = np.full(len(self.pairs), np.nan)
        hits[result.rows.numpy()] = (result.predictions == result.labels).double().numpy()
        mean_steps, _ = mean_and_sd(result.steps)
        figures = {"test_accuracy": result.accuracy, "test_pairs": len(result.rows)}
        return figures | {"test_mean_steps": mean_steps}, hits


def variant_row(
    params: Params, model: str, variant: str, rows: list[dict[str, Any]], comparison: Comparison
) -> dict[str, Any]:
    """A variant's mean and sd over seeds, and how it compares with the first of its model."""
    changes = params.fidelity.models[model][variant]
    dev, test = ([row[f"{split}_accuracy"] for row in rows] for split in ("dev", "test"))
    steps = [row["test_mean_steps"] for row in rows if row["test_mean_steps"] is not None]
    return {
        "model": model,
        "variant": variant,
        "changes": ", ".join(f"{name}: {value}" for name, value in changes.items()),
        "seeds": len(rows),
        "dev_accuracy_mean": statistics.fmean(dev),
        "dev_accuracy_sd": sample_sd(dev),
        "test_accuracy_mean": statistics.fmean(test),
        "test_accuracy_sd": sample_sd(test),
        "test_mean_steps": statistics.fmean(steps) if steps else None,
        **comparison._asdict(),
    }


def compare_variants(
    params: Params, rows: list[dict[str, Any]], hits: Iterable[Hits]
) -> list[dict[str, Any]]:
    """One line per variant; each is compared with the first variant of its model."""
    together: dict[tuple[str, str], list[tuple[dict[str, Any], Hits]]] = {}
    for row, hit in zip(rows, hits, strict=True):
        together.setdefault((row["model"], row["variant"]), []).append((row, hit))
    table = []
    for (model, variant), found in together.items():
        first = next(iter(params.fidelity.models[model]))
        reference = np.stack([hit for _, hit in together[model, first]])
        other = np.stack([hit for _, hit in found])
        comparison = compare(reference, other, params.fidelity.resamples, seed=0)
        own = [row for row, _ in found]
        table.append(variant_row(params, model, variant, own, comparison))
    return table


def main() -> None:
    """Write artefacts/fidelity/."""
    params = load_params()
    folder = artefacts("fidelity")
    runs = plan(params)
    rows: list[dict[str, Any]] = []
    timings, hits = [], []
    if runs:
        execution = execution_settings(params)
        records = train("fidelity", runs, execution, keep_weights=True)
        split = TestSplit(TrialStore(execution.state / "trials"))
        for run, record in tqdm(list(zip(runs, records, strict=True)), "fidelity", unit="model"):
            figures, hit = split.score(run, record.key)
            rows.append(run_row(run, record) | figures)
            hits.append(hit)
            timings.append(timing_row(run, record))
    variants = compare_variants(params, rows, hits)
    write_table(folder / "results.csv", rows, list(RESULTS))
    write_table(folder / "variants.csv", variants, columns(Variant))
    write_table(folder / "timings.csv", timings, columns(VariantTime))
    kept = ("seeds", "test_accuracy_mean", "difference")
    summary = summarise(variants, "model", "variant", kept)
    write_summary(folder / "summary.json", summary)


if __name__ == "__main__":
    run_stage(main)
