"""What a model does with a pair at each step, as traces and answers tell it."""

from collections.abc import Iterator, Sequence
from typing import Any

from actmodels.data.labels import LABELS
from actmodels.steps import Trace
from pipeline.sources.tokens import TokenPair

NULL = "<null>"  # how the NULL token is shown


def told_steps(
    found: Trace, pairs: Sequence[TokenPair], *, null_token: bool, digits: int
) -> Iterator[dict[str, Any]]:
    """What is told of each pair of a traced batch.

    premise, hypothesis: the tokens, behind NULL where the model has a NULL token
    trace: one entry per step up to N, each with
        halting_probability: of the unit at that step
        weight: what the step counts in the answer; all weights sum to 1
        class, class_probabilities: the answer if this state alone were classified
        premise_attention, hypothesis_attention: weights over the tokens, sum 1

    Args:
        digits: decimals of probabilities and weights.
    """
    steps, classes = found.steps.int().tolist(), found.classes.argmax(dim=2).tolist()
    rounded = {
        name: part.double().round(decimals=digits).tolist()
        for name, part in found._asdict().items()
    }
    front = [NULL] if null_token else []
    for place, pair in enumerate(pairs):
        premise, hypothesis = front + pair.premise, front + pair.hypothesis
        trace = [
            {
                "step": n + 1,
                "halting_probability": rounded["halting"][place][n],
                "weight": rounded["weights"][place][n],
                "class": LABELS[classes[place][n]],
                "class_probabilities": by_label(rounded["classes"][place][n]),
                "premise_attention": rounded["premise"][place][n][: len(premise)],
                "hypothesis_attention": rounded["hypothesis"][place][n][: len(hypothesis)],
            }
            for n in range(steps[place])
        ]
        yield {"premise": premise, "hypothesis": hypothesis, "trace": trace}


def by_label(probabilities: Sequence[float]) -> dict[str, float]:
    """Probabilities [labels] under their names."""
    return dict(zip(LABELS, probabilities, strict=True))
