"""How models, mechanisms and corpora are called in the report."""

from actmodels.registry import HALTINGS
from reports.format import Row
from reports.load import Artifacts

MECHANISMS = {name: kind.title for name, kind in HALTINGS.items()}
_VARIANTS = {**MECHANISMS, "as_published": "as published"}
_SPELLED = {
    "Lstm": "LSTM",
    "Nti": "NTI",
    "Spinn Pi": "SPINN-PI",
    "Intra Attention": "Intra-Attention",
    "Word By Word": "Word-by-Word",
}
SNLI_TRAIN = 549_367  # labelled training pairs of SNLI 1.0 (paper, appendix D)


def title(model: str) -> str:
    """Spell a model's name: `adaptive_attention_dact` is Adaptive Attention, DACT."""
    for ending in sorted(_VARIANTS, key=len, reverse=True):  # supervised_act also ends in act
        if model.endswith(f"_{ending}"):
            return f"{title(model.removesuffix(f'_{ending}'))}, {_VARIANTS[ending]}"
    words = model.replace("_", " ").title()
    for plain, spelled in _SPELLED.items():
        words = words.replace(plain, spelled)
    return words


def model_name(row: Row) -> str:
    """Print the model of a row of a table."""
    return title(row["model"])


def on_all_of_snli(data: Artifacts) -> bool:
    """Return whether the figures may be compared with those published for SNLI."""
    pairs = data.documents["tensors/manifest"]["pairs"]["train"]
    return bool(data.documents["corpus/summary"]["source"] == "snli" and pairs >= SNLI_TRAIN)


def corpus(data: Artifacts) -> str:
    """Name the corpus in a table cell."""
    pairs = data.documents["tensors/manifest"]["pairs"]["train"]
    if data.documents["corpus/summary"]["source"] == "captions":
        return f"generated captions, {pairs:,} pairs"
    return "SNLI" if on_all_of_snli(data) else f"SNLI subset, {pairs:,} pairs"
