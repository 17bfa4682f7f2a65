"""Describe the inference steps of a model, for traces and predictions."""

from collections.abc import Iterator, Sequence
from typing import Any

from actmodels.tracing import Trace
from pipeline.datasets.tokens import TokenPair

NULL = "<null>"  # displayed for the NULL token


def described_steps(
    traced: Trace,
    pairs: Sequence[TokenPair],
    classes: Sequence[str],
    *,
    null_token: bool,
    digits: int,
) -> Iterator[dict[str, Any]]:
    """Yield the description of each pair of a traced batch.

    Args:
        classes: their names.
        digits: decimals of probabilities and weights.

    Yields:
        premise, hypothesis: tokens, after NULL if the model has a NULL token.
        trace: one entry per step up to N, with
            step: number of the step, from 1.
            halting_probability: probability of the halting unit.
            weight: weight of the step in the prediction; the weights sum to 1.
            class, class_probabilities: prediction from this state alone.
            premise_attention, hypothesis_attention: weights over the tokens; they sum to 1.
    """
    parts = {k: v.double().round(decimals=digits).tolist() for k, v in traced._asdict().items()}
    front = [NULL] if null_token else []
    for row, (pair, count) in enumerate(zip(pairs, traced.steps.int().tolist(), strict=True)):
        premise, hypothesis = front + pair.premise, front + pair.hypothesis
        values = {name: part[row] for name, part in parts.items()}
        best = traced.classes[row].argmax(dim=1).tolist()
        steps = [
            {
                "step": n + 1,
                "halting_probability": values["halting"][n],
                "weight": values["weights"][n],
                "class": classes[best[n]],
                "class_probabilities": dict(zip(classes, values["classes"][n], strict=True)),
                "premise_attention": values["premise"][n][: len(premise)],
                "hypothesis_attention": values["hypothesis"][n][: len(hypothesis)],
            }
            for n in range(count)
        ]
        yield {"premise": premise, "hypothesis": hypothesis, "trace": steps}
