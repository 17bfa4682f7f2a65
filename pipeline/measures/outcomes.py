"""What more steps than one did to an answer: corrected it, spoiled it, or left it as it was."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from actmodels.rows.pairs import COUNTS


def outcome(label: str, classes: Sequence[str], answer: str) -> str:
    """One of `OUTCOMES`, by what is right: the states of the steps, and the answer made of them.

    corrected: the state after step 1 is wrong, the answer right.
    spoiled: the state after step 1 is right, the answer wrong.
    right_throughout: every state and the answer are right.
    wrong_throughout: every state and the answer are wrong, whichever wrong classes they are.
    changed_in_between: the answer is as right or wrong as the state after step 1, but the state
        after some later step is not.

    Args:
        label: the gold label.
        classes: what each state would answer by itself, one or more, the first after step 1.
        answer: what the model answers. It weighs the states, so it may differ from all of them.
    """
    first, right = classes[0] == label, answer == label
    if first != right:
        return "corrected" if right else "spoiled"
    if any((state == label) != right for state in classes):
        return "changed_in_between"
    return "right_throughout" if right else "wrong_throughout"


def summarise(lines: Iterable[dict[str, Any]]) -> dict[str, dict[str, dict[str, int]]]:
    """Counts of traced pairs by model and seed, in the order of their lines.

    `right_after_step_1` and `right` count right states after step 1 and right answers; they
    differ by `corrected` less `spoiled`.
    """
    counts: dict[str, dict[str, Counter[str]]] = {}
    for line in lines:
        seeds = counts.setdefault(line["model"], {})
        found = seeds.setdefault(f"seed_{line['seed']}", Counter())
        found["pairs"] += 1
        found["right_after_step_1"] += line["trace"][0]["class"] == line["label"]
        found["right"] += line["predicted"] == line["label"]
        found[line["outcome"]] += 1
    return {
        model: {seed: {name: found[name] for name in COUNTS} for seed, found in seeds.items()}
        for model, seeds in counts.items()
    }
