"""Errors and steps by how difficult an instance is (Graves 2016, figures 6, 10, 14 and 19)."""

from dataclasses import dataclass

from torch import Tensor

from actmodels.figures import mean_and_sd
from actmodels.sequences.evaluation import SequenceEvaluation
from actmodels.sequences.task import Task


@dataclass(frozen=True)
class DifficultyFigures:
    """Instances of one difficulty: sequences, or where each vector has its own, vectors.

    instances: how many there are. asked: how many of them have a target.
    error: share of those asked with any mistake; None where none is asked.
    mean_steps, sd_steps: N over their inputs. ponder_cost: mean N + R of an input. None where the
        network does not halt.
    """

    difficulty: int
    instances: int
    asked: int
    error: float | None
    mean_steps: float | None
    sd_steps: float | None
    ponder_cost: float | None


def by_difficulty(evaluation: SequenceEvaluation, task: Task) -> list[DifficultyFigures]:
    """Figures of each difficulty that occurs, the least first."""
    scored, pondered, batch = evaluation
    if task.difficulty_of == "sequence":
        level = batch.difficulty.amax(dim=1)  # padding has 0
        asked, wrong = batch.target_mask.any(dim=1), scored.wrong.any(dim=1)
    else:
        level, asked, wrong = batch.difficulty, batch.target_mask, scored.wrong
    real = batch.mask.any(dim=1) if task.difficulty_of == "sequence" else batch.mask

    def of_inputs(values: Tensor | None, difficulty: int) -> Tensor | None:
        return None if values is None else values[(batch.difficulty == difficulty) & batch.mask]

    rows = []
    for difficulty in level[real].unique().tolist():
        here = real & (level == difficulty)
        counted = here & asked
        count = int(counted.sum())
        mean_steps, sd_steps = mean_and_sd(of_inputs(pondered.steps, difficulty))
        rows.append(
            DifficultyFigures(
                difficulty,
                int(here.sum()),
                count,
                wrong[counted].double().mean().item() if count else None,
                mean_steps,
                sd_steps,
                mean_and_sd(of_inputs(pondered.ponder_cost, difficulty))[0],
            )
        )
    return rows
