"""The steps of a model for a pair, as traces and answers describe them."""

from collections.abc import Iterator, Sequence
from typing import Any

from actmodels.configs import LABELS
from actmodels.tracing import Trace
from pipeline.datasets.tokens import TokenPair

NULL = "<null>"  # how the NULL token is shown


def described_steps(
    found: Trace, pairs: Sequence[TokenPair], *, null_token: bool, digits: int
) -> Iterator[dict[str, Any]]:
    """Describe the steps of each pair of a traced batch.

    premise, hypothesis: the tokens, behind NULL where the model has a NULL token
    trace: one entry per step up to N, each with
        halting_probability: of the unit at that step
        weight: the step's weight in the answer; all weights sum to 1
        class, class_probabilities: the answer if this state alone were classified
        premise_attention, hypothesis_attention: weights over the tokens, sum 1

    Args:
        digits: decimals of probabilities and weights.
    """
    parts = {k: v.double().round(decimals=digits).tolist() for k, v in found._asdict().items()}
    front = [NULL] if null_token else []
    for place, (pair, taken) in enumerate(zip(pairs, found.steps.int().tolist(), strict=True)):
        premise, hypothesis = front + pair.premise, front + pair.hypothesis
        own = {name: part[place] for name, part in parts.items()}
        classes = found.classes[place].argmax(dim=1).tolist()
        trace = [
            {
                "step": n + 1,
                "halting_probability": own["halting"][n],
                "weight": own["weights"][n],
                "class": LABELS[classes[n]],
                "class_probabilities": by_label(own["classes"][n]),
                "premise_attention": own["premise"][n][: len(premise)],
                "hypothesis_attention": own["hypothesis"][n][: len(hypothesis)],
            }
            for n in range(taken)
        ]
        yield {"premise": premise, "hypothesis": hypothesis, "trace": trace}


def by_label(probabilities: Sequence[float]) -> dict[str, float]:
    """Return probabilities [labels] under their names."""
    return dict(zip(LABELS, probabilities, strict=True))
