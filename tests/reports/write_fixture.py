"""How tests/fixtures was made: python -m tests.reports.write_fixture

Invented figures in the stages' format; two models, three seeds. Accuracies are chosen by hand
where a test computes with them, and follow simple curves elsewhere.
"""

import json
import math
import shutil
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from actmodels.config import TrialConfig, build_trial
from actmodels.records import TIMING_FIELDS, EpochRecord
from actmodels.rows.columns import columns
from actmodels.rows.pairs import Ablation, AtDepth, Lexicalised, Paired, Result
from reports.render import write_report
from tests.reports.write_csv import write_csv
from tests.reports.write_nse import write_nse
from tests.reports.write_studies import studies
from tests.reports.write_traces import write_traces

ROOT = Path(__file__).parents[1] / "fixtures" / "artefacts"
DA, AA = "decomposable_attention", "adaptive_attention"
SHARED: dict[str, Any] = {
    "width": 8,
    "init": "xavier",
    "init_std": 0.01,
    "optimizer": "adam",
    "learning_rate": 0.001,
    "adagrad_accumulator": 0.1,
    "clip_norm": 5.0,
    "depth_epochs": 0,
    "batch_size": 32,
    "oov_rule": "own",
    "oov_buckets": 100,
    "oov_std": 0.01,
    "unit_norm": False,
    "null_token": False,
}
HALTING = {"state_size": 8, "gate_size": 8, "epsilon": 0.01, "max_steps": 20, "halting_bias": 1.0}
PARAMETERS = {DA: 3_003, AA: 5_005}
# By seed: dev accuracy of the best epoch, test accuracy, mean steps on test.
RETRAINED: dict[str, dict[int, tuple[float, float, float | None]]] = {
    DA: {1: (0.81, 0.80, None), 2: (0.82, 0.81, None), 3: (0.83, 0.82, None)},
    AA: {1: (0.84, 0.83, 4.0), 2: (0.82, 0.80, 5.0), 3: (0.86, 0.83, 4.5)},
}
# Test accuracy by reading, steps and seed; adaptive halting is RETRAINED's.
ABLATED: dict[str, dict[int, tuple[float, float, float]]] = {
    "state": {2: (0.70, 0.71, 0.72), 4: (0.80, 0.80, 0.80), 8: (0.81, 0.80, 0.79)},
    "capped": {2: (0.75, 0.75, 0.75), 4: (0.81, 0.80, 0.82), 8: (0.83, 0.81, 0.83)},
}


def trial(model: str, seed: int, epochs: int, **settings: Any) -> TrialConfig:
    """A trial of the fixture."""
    own = HALTING if model == AA else {}
    given = {**SHARED, **own, **settings}
    return build_trial(model, given, max_epochs=epochs, patience=0, seed=seed)


def history(
    config: TrialConfig, epochs: int, best: float, steps: float | None
) -> list[EpochRecord]:
    """A curve that reaches `best` in the last epoch but one."""
    records = []
    for epoch in range(1, epochs + 1):
        short = 0.03 * abs(epochs - 1 - epoch)
        halting = steps is not None
        records.append(
            EpochRecord(
                epoch=epoch,
                train_loss=round(1.1 - 0.15 * epoch, 4),
                train_accuracy=round(best - 0.1 + 0.04 * epoch, 4),
                train_mean_steps=steps,
                train_sd_steps=0.75 if halting else None,
                train_ponder_cost=None if steps is None else steps + 0.5,
                dev_loss=round(0.5 + short, 4),
                dev_accuracy=round(best - short, 4),
                dev_mean_steps=steps,
                dev_sd_steps=0.75 if halting else None,
                dev_ponder_cost=None if steps is None else steps + 0.5,
                ponder_weight=config.flat().get("ponder_weight"),
                seconds=2.0 if halting else 1.0,
                examples_per_second=500.0 if halting else 1000.0 + epoch,
            )
        )
    return records


def write_json(path: Path, content: dict[str, Any]) -> None:
    """An indented document."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def write_trials(folder: Path, done: list[tuple[str, TrialConfig, list[EpochRecord]]]) -> None:
    """trials.csv, history.csv and timings.csv of a stage that trains."""
    settings = list(dict.fromkeys(name for _, config, _ in done for name in config.flat()))
    settings = [name for name in settings if name not in ("model", "seed")]
    measured = [name for name in done[0][2][0].result() if name != "epoch"]
    best_figures = [name for name in measured if name != "ponder_weight"]  # there the setting
    trials, epochs, seconds = [], [], []
    for key, config, records in done:
        flat, best = config.flat(), max(records, key=lambda r: r.dev_accuracy)
        ident = [key, config.model, config.seed]
        size = [PARAMETERS[config.model], len(records), False, best.epoch]
        figures = [best.result()[name] for name in best_figures]
        trials.append([*ident, *(flat.get(name) for name in settings), *size, *figures])
        for record in records:
            epochs.append([*ident, record.epoch, *(record.result()[name] for name in measured)])
            seconds.append([*ident, record.epoch, *(getattr(record, f) for f in TIMING_FIELDS)])
    ident_names = ["key", "model", "seed"]
    sizes = ["parameters", "epochs", "diverged", "best_epoch"]
    write_csv(folder / "trials.csv", [*ident_names, *settings, *sizes, *best_figures], trials)
    write_csv(folder / "history.csv", [*ident_names, "epoch", *measured], epochs)
    write_csv(folder / "timings.csv", [*ident_names, "epoch", *TIMING_FIELDS], seconds)


def sweep() -> list[tuple[str, TrialConfig, list[EpochRecord]]]:
    """Four trials of each model."""
    done: list[tuple[str, TrialConfig, list[EpochRecord]]] = []
    for rate, dropout in product((0.001, 0.0005), (0.1, 0.2)):
        best = 0.80 + (0.02 if rate == 0.001 else 0.0) - (0.01 if dropout == 0.2 else 0.0)
        config = trial(DA, 1, 3, learning_rate=rate, dropout=dropout)
        done.append((f"da{len(done) + 1:02d}", config, history(config, 3, best, None)))
    for weight, dropout in product((0.001, 5e-05), (0.1, 0.2)):
        best = 0.81 + (0.02 if weight == 0.001 else 0.0) - (0.01 if dropout == 0.2 else 0.0)
        steps = 4.0 if weight == 0.001 else 9.0
        config = trial(AA, 1, 3, ponder_weight=weight, dropout=dropout)
        done.append((f"aa{len(done) + 1:02d}", config, history(config, 3, best, steps)))
    return done


def retrain() -> list[tuple[str, TrialConfig, list[EpochRecord]]]:
    """Three seeds of each model's best configuration."""
    extra: dict[str, dict[str, Any]] = {DA: {}, AA: {"ponder_weight": 0.001}}
    done = []
    for model, seeds in RETRAINED.items():
        for seed, (dev, _, steps) in seeds.items():
            config = trial(model, seed, 5, dropout=0.1, **extra[model])
            done.append((f"{model[0]}a-seed{seed}", config, history(config, 5, dev, steps)))
    return done


def environment(trials: int, reused: int, seconds: float) -> dict[str, Any]:
    """What a stage says of its run."""
    versions = {"python_version": "3.11.7", "torch_version": "2.13.0", "ray_version": "2.60.0"}
    machine = {"cpu": "Invented CPU", "cores": 2, "memory_gib": 23.5, "gpu": None}
    return {
        "provenance": {"git_commit": "89abcdef", **versions},
        "data_digest": "4567cdef",
        "machine": machine,
        "trials": trials,
        "reused": reused,
        "wall_seconds": seconds,
    }


def ablation(split: str) -> list[list[Any]]:
    """Rows of the ablation: on dev by a curve, on test by hand."""
    rows: list[list[Any]] = []
    for seed, (dev, test, steps) in RETRAINED[AA].items():
        if split == "test":
            for reading, by_steps in ABLATED.items():
                for k, accuracies in by_steps.items():
                    taken = k if reading == "state" else min(k, 4)
                    rows.append([AA, seed, reading, k, accuracies[seed - 1], float(taken)])
            rows.append([AA, seed, "adaptive", None, test, steps])
            continue
        for k in range(1, 21):
            state = dev - 0.5 * math.exp(-k / 2) - 0.001 * k
            capped = dev - 0.3 * math.exp(-k / 1.5)
            rows.append([AA, seed, "state", k, round(state, 4), float(k)])
            rows.append([AA, seed, "capped", k, round(capped, 4), float(min(k, 4))])
        rows.append([AA, seed, "adaptive", None, dev, steps])
    return rows


def write_evaluation() -> None:
    """The stages after training."""
    results, depth = [], []
    for model, seeds in RETRAINED.items():
        for seed, (dev, test, steps) in seeds.items():
            sd = None if steps is None else 0.75
            size = [f"{model[0]}a-seed{seed}", PARAMETERS[model], 5, 4]
            results.append([model, seed, *size, dev, test, 100, steps, sd])
            for level in (1, 2, 3):
                taken = None if steps is None else steps - 1 + 0.5 * level
                accuracy = round(test + 0.06 - 0.03 * level, 4)
                depth.append([model, seed, level, (50, 30, 20)[level - 1], accuracy, taken])
    folder = ROOT / "evaluate"
    write_csv(folder / "results.csv", columns(Result), results)
    write_csv(folder / "depth.csv", columns(AtDepth), depth)
    paired = [[AA, DA, 3, 0.01, -0.02, 0.04, 0.5, 100]]
    paired += [["lexicalised_classifier", DA, 3, -0.08, -0.15, -0.01, 0.0004, 100]]
    write_csv(folder / "paired.csv", columns(Paired), paired)
    for split in ("dev", "test"):
        write_csv(ROOT / "ablate" / f"{split}.csv", columns(Ablation), ablation(split))
    taken = {seed: steps or 0.0 for seed, (_, _, steps) in RETRAINED[AA].items()}
    for place, (header, rows) in studies(taken, 100).items():
        write_csv(ROOT / place, header, rows)


def main() -> None:
    """Write the artefacts and the report that belongs to them."""
    done = sweep()
    write_trials(ROOT / "sweep", done)
    summary: dict[str, Any] = {"grid_hash": "0123abcd", "trials": len(done), "models": {}}
    write_json(ROOT / "sweep" / "summary.json", summary)
    write_json(ROOT / "sweep" / "environment.json", environment(len(done), 2, 725.4))
    write_json(ROOT / "retrain" / "environment.json", environment(6, 0, 12_000.0))
    write_traces(ROOT)
    write_nse(ROOT)
    chosen = {DA: 0, AA: 4}
    best = {
        model: {
            "key": done[at][0],
            "keys": [done[at][0]],
            "config": done[at][1].as_dict(),
            "dev_accuracy": max(record.dev_accuracy for record in done[at][2]),
            "dev_accuracy_sd": None,
            "seeds": 1,
            "considered": 4,
            "tied": 1,
            "tie_rule": "highest dev accuracy; then lower dev loss",
        }
        for model, at in chosen.items()
    }
    write_json(ROOT / "select_best" / "best.json", best)
    write_trials(ROOT / "retrain", retrain())
    write_evaluation()
    runs = [["lexicalised_classifier", 0, 1203, 10.0, 0.74, 0.73, 100]]
    write_csv(ROOT / "lexicalised" / "results.csv", columns(Lexicalised), runs)
    pairs = {"train": 800, "dev": 100, "test": 100}
    splits = {split: {"pairs": n, "labelled": n} for split, n in pairs.items()}
    write_json(ROOT / "corpus" / "summary.json", {"source": "captions", "splits": splits})
    write_json(ROOT / "tensors" / "manifest.json", {"digest": "4567cdef", "pairs": pairs})
    write_json(ROOT / "vectors" / "summary.json", {"source": "random"})
    with TemporaryDirectory() as folder:
        write_report(ROOT, Path(folder), published=True, examples=100)
        shutil.copyfile(Path(folder, "report.md"), ROOT.parent / "report.md")


if __name__ == "__main__":
    main()
