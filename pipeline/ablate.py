"""Stage `ablate`: accuracy at a fixed number of inference steps, in both readings."""

import statistics
from typing import Any

import numpy as np
from tqdm import tqdm

from actmodels.data.pairs import PairTensors
from actmodels.data.subset import premise_groups
from actmodels.models.alternating import AlternatingAttention
from actmodels.steps import AblationRow, ablate_steps
from pipeline.measures.paired import Groups, compare
from pipeline.parameters.load import load_params
from pipeline.running.results import write_json, write_table
from pipeline.running.stage import artefacts, run_stage
from pipeline.trained.trials import log_figures, retrained_models


def summarise(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Mean accuracy over seeds by reading and steps, such as state_4 or adaptive."""
    groups: dict[str, list[float]] = {}
    for row in rows:
        name = row["reading"] + ("" if row["steps"] is None else f"_{row['steps']}")
        groups.setdefault(name, []).append(row["accuracy"])
    return {name: statistics.fmean(values) for name, values in groups.items()}


def gains(found: list[list[AblationRow]], groups: Groups) -> list[dict[str, Any]]:
    """The adaptive model minus each fixed number of steps, from the rows of each seed."""
    readings = list(zip(*found, strict=True))
    hits = [np.array([row.hits.numpy() for row in seeds], dtype=float) for seeds in readings]
    return [
        {"reading": seeds[0].reading, "steps": seeds[0].steps, "seeds": len(seeds)}
        | compare(fixed, hits[-1], groups)._asdict()
        for seeds, fixed in zip(readings[:-1], hits[:-1], strict=True)
    ]


def main() -> None:
    """Write artefacts/ablate/."""
    ablate = load_params().ablate
    plan = {"dev": list(range(1, ablate.dev_steps + 1)), "test": ablate.test_steps}
    pairs = {split: PairTensors.load(artefacts("tensors", f"{split}.pt")) for split in plan}
    rows: dict[str, list[dict[str, Any]]] = {split: [] for split in plan}
    keys, on_test = [], []
    models = list(retrained_models(ablate.model))
    for config, record, model in tqdm(models, "ablate", unit="model"):
        assert isinstance(model, AlternatingAttention)  # a rule of params.yaml
        keys.append(record.key)
        for split, steps in plan.items():
            found = ablate_steps(model, pairs[split], config.input, steps, ablate.batch_size)
            name = {"model": config.model, "seed": config.seed}
            on_test += [found] if split == "test" else []
            for row in found:
                figures = {"accuracy": row.accuracy, "mean_steps": row.mean_steps}
                rows[split].append(name | {"reading": row.reading, "steps": row.steps} | figures)
    for split, table in rows.items():
        write_table(artefacts("ablate", f"{split}.csv"), table)
    compared = gains(on_test, premise_groups(pairs["test"]).numpy()) if on_test else []
    write_table(artefacts("ablate", "gains.csv"), compared)
    summary = {split: summarise(table) for split, table in rows.items()}
    write_json(artefacts("ablate", "summary.json"), summary)
    log_figures("ablate", keys, summary)


if __name__ == "__main__":
    run_stage(main)
