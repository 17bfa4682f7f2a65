"""The fixed-step ablation of a trained adaptive model (paper appendix A and table 1).

The paper fixes "the maximum number of inference steps at test time", which reads two ways:
`state` classifies the k-th state by itself; `capped` halts as trained but after k steps at
the latest (for ACT the remainder falls on step k). The paper's remark on the uptick for ACT
speaks for the first.
"""

from typing import Literal, NamedTuple

import torch
from torch import Tensor

from actmodels.data.pairs import PairTensors, collate
from actmodels.models.alternating import AlternatingAttention
from actmodels.prediction import Prediction
from actmodels.settings import InputConfig

HowRead = Literal["state", "capped", "adaptive"]


class AblationRow(NamedTuple):
    """Accuracy in [0, 1] and mean steps of one reading; steps is None for the adaptive model."""

    reading: HowRead
    steps: int | None
    accuracy: float
    mean_steps: float


def hits(logits: Tensor, labels: Tensor) -> int:
    """How many pairs are classified rightly."""
    return int((logits.argmax(dim=1) == labels).sum())


def total_steps(prediction: Prediction) -> float:
    """Steps taken, summed over the batch."""
    assert prediction.steps is not None
    return float(prediction.steps.sum())


@torch.no_grad()
def ablate_steps(
    model: AlternatingAttention,
    pairs: PairTensors,
    config: InputConfig,
    steps: list[int],
    batch_size: int = 256,
) -> list[AblationRow]:
    """Measure both readings at every number of steps, and the adaptive model beside them."""
    model.eval()
    device = next(model.parameters()).device
    max_steps = model.halting.max_steps
    correct = {reading: dict.fromkeys(steps, 0) for reading in ("state", "capped")}
    taken = dict.fromkeys(steps, 0.0)
    adaptive_correct, adaptive_taken = 0, 0.0
    count = 0
    for index in model.batches(pairs, batch_size):
        count += len(index)
        batch = collate(pairs, index, null_token=config.null_token, device=device)
        states, probabilities = model.unroll(batch, max(max_steps, *steps), until_halted=False)
        for k in steps:
            correct["state"][k] += hits(model.classify(states[:, k - 1]), batch.labels)
            capped = model.answer(states[:, :k], probabilities[:, :k])
            correct["capped"][k] += hits(capped.logits, batch.labels)
            taken[k] += total_steps(capped)
        adaptive = model.answer(states[:, :max_steps], probabilities[:, :max_steps])
        adaptive_correct += hits(adaptive.logits, batch.labels)
        adaptive_taken += total_steps(adaptive)
    rows = [AblationRow("state", k, correct["state"][k] / count, float(k)) for k in steps]
    rows += [
        AblationRow("capped", k, correct["capped"][k] / count, taken[k] / count) for k in steps
    ]
    return [*rows, AblationRow("adaptive", None, adaptive_correct / count, adaptive_taken / count)]
