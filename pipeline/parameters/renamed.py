"""Former names of keys and models; a former name in params.yaml gets an error with the new one."""

from collections.abc import Iterable, Sequence

from pydantic_core import ErrorDetails

FORMER_NAMES = {  # new name: name before version 2
    "bootstrap_seed": "draws_seed",
    "cloze": "nse",
    "cloze_data": "questions",
    "co_hyponym": "siblings",
    "color": "colour",
    "compare_adaptive_attention": "comparing_adaptive_attention",
    "distractors": "lures",
    "grace_period": "first_epochs",
    "hypernym": "broader",
    "hyponym": "narrower",
    "labeled_pairs": "labelled_pairs",
    "lexical_baseline": "lexicalised",
    "max_ci_width": "widest",
    "max_error": "most_error",
    "mean_pool_decomposable_attention": "averaged_decomposable_attention",
    "mechanisms": "kinds",  # halting, sequences.tasks
    "n_bootstrap": "draws",
    "pool_first_decomposable_attention": "averaged_first_decomposable_attention",
    "question_types": "kinds",  # cloze, cloze_data
    "reduction_factor": "keep_one_in",
    "regularization": "regularisation",
    "sequences": "graves",
    "tokenized": "tokenised",
    "trials_per_fusion": "trials_per_pack",
    "unlabeled": "unlabelled",
}


def new_name(name: object, known: Iterable[str]) -> str | None:
    """Return the key among `known` that had this name; None if none had."""
    return next((key for key in known if FORMER_NAMES.get(key) == name), None)


def without_renamed(errors: Sequence[ErrorDetails]) -> list[ErrorDetails]:
    """Drop "is missing" for each key whose former name is among the errors."""
    paths = {error["loc"] for error in errors}
    return [
        error
        for error in errors
        if error["type"] != "missing"
        or (*error["loc"][:-1], FORMER_NAMES.get(str(error["loc"][-1]))) not in paths
    ]
