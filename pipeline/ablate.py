"""Stage `ablate`: accuracy with a fixed number of inference steps, by state and by answer."""

import numpy as np
from tqdm import tqdm

from actmodels.data.pairs import PairTensors
from actmodels.data.trial_data import premise_groups
from actmodels.models.alternating import AlternatingAttention
from actmodels.tracing import AblationRow, ablate_steps
from pipeline.parameters.load import load_params
from pipeline.runtime.results import TableRow, write_results
from pipeline.runtime.stage import artifacts, run_stage
from pipeline.statistics.aggregate import grouped, mean
from pipeline.statistics.paired import Groups, compare
from pipeline.trials.models import model_in_steps, retrained_models


def gains(seeds: list[list[AblationRow]], groups: Groups) -> list[TableRow]:
    """Compare the adaptive model with each fixed number of steps; `seeds` has the rows of each."""
    readings = list(zip(*seeds, strict=True))
    hits = [np.array([row.hits.numpy() for row in rows], dtype=float) for rows in readings]
    return [
        {"reading": rows[0].reading, "steps": rows[0].steps, "seeds": len(rows)}
        | compare(fixed, hits[-1], groups)._asdict()
        for rows, fixed in zip(readings[:-1], hits[:-1], strict=True)
    ]


def main() -> None:
    """Write artifacts/ablate/."""
    ablate = load_params().ablate
    if (name := model_in_steps("ablate.model", ablate.model)) is None:
        return write_results("ablate", {}, dev=[], test=[], gains=[])
    plan = {"dev": list(range(1, ablate.dev_steps + 1)), "test": ablate.test_steps}
    pairs = {split: PairTensors.load(artifacts("tensors", f"{split}.pt")) for split in plan}
    rows: dict[str, list[TableRow]] = {split: [] for split in plan}
    by_seed: dict[str, list[list[AblationRow]]] = {split: [] for split in plan}
    models = list(retrained_models(name))
    for config, _, model in tqdm(models, "ablate", unit="model"):
        assert isinstance(model, AlternatingAttention)  # as of model_in_steps
        run = {"model": config.model, "seed": config.seed}
        for split, steps in plan.items():
            ablated = ablate_steps(model, pairs[split], config.input, steps)
            by_seed[split].append(ablated)
            rows[split] += [run | row._asdict() | {"accuracy": row.accuracy} for row in ablated]
    compared = gains(by_seed["test"], premise_groups(pairs["test"]).numpy())
    summary: dict[str, TableRow] = {split: {} for split in plan}
    for split, table in rows.items():
        for (reading, steps), seeds in grouped(table, "reading", "steps").items():
            key = reading if steps is None else f"{reading}_{steps}"
            summary[split][key] = mean(seeds, "accuracy")
    write_results("ablate", summary, **rows, gains=compared)


if __name__ == "__main__":
    run_stage(main)
