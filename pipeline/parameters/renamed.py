"""Keys and models that had another name before version 2; an old name is an error that says so."""

from collections.abc import Sequence

from pydantic_core import ErrorDetails

RENAMED = {
    "averaged_decomposable_attention": "mean_pool_decomposable_attention",
    "averaged_first_decomposable_attention": "pool_first_decomposable_attention",
    "broader": "hypernym",
    "colour": "color",
    "comparing_adaptive_attention": "compare_adaptive_attention",
    "draws": "n_bootstrap",
    "draws_seed": "bootstrap_seed",
    "first_epochs": "grace_period",
    "graves": "sequences",
    "keep_one_in": "reduction_factor",
    "labelled_pairs": "labeled_pairs",
    "lexicalised": "lexical_baseline",
    "lures": "distractors",
    "most_error": "max_error",
    "narrower": "hyponym",
    "nse": "cloze",
    "questions": "cloze_data",
    "regularisation": "regularization",
    "siblings": "co_hyponym",
    "tokenised": "tokenized",
    "trials_per_pack": "trials_per_fusion",
    "unlabelled": "unlabeled",
    "widest": "max_ci_width",
}


def without_followers(errors: Sequence[ErrorDetails]) -> list[ErrorDetails]:
    """Drop "is missing" for a key whose old name is among the errors."""
    new = {(*e["loc"][:-1], RENAMED.get(str(e["loc"][-1]))) for e in errors if e["loc"]}
    return [e for e in errors if e["type"] != "missing" or e["loc"] not in new]
