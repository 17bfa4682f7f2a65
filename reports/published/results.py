"""Results of others, each with the source it was read from; none is a result of this project.

snli.csv: test accuracy on all of SNLI in per cent, as printed; k thousands and M millions of
parameters without word vectors. cloze.csv: accuracies in per cent of single models, from tables 2
and 3 of Munkhdalai & Yu 2017 (arXiv:1610.06454). tasks.csv: Graves' figures as read in
arXiv:1603.08983, mostly off its charts.
"""

from functools import cache
from pathlib import Path

import pandas as pd

HERE = Path(__file__).parent
SOURCES = (
    "Neumann et al. 2016 is arXiv:1610.07647, Neumann's thesis *Learning to Reason with Adaptive "
    "Computation* (MSc, University College London, 2016), Munkhdalai & Yu 2017 arXiv:1607.04492."
)
OWN, PARIKH = "200D Decomposable Attention, the paper's own", "200D Decomposable Attention"
# The paper's ablation: number of steps to test accuracy in per cent.
BY_STEPS: dict[int | str, float] = {2: 76.2, 4: 81.7, 8: 81.0, "adaptive": 82.7}
MEAN_STEPS = 5  # of its adaptive model (section 5)
# Systems whose difference in the same source corresponds to one of ours.
PAIRS = {
    ("adaptive_attention", "decomposable_attention"): ("Adaptive Attention", OWN),
    ("iterative_attention", "decomposable_attention"): (
        "Adaptive IAA",
        "200D Decomposable Attention, the thesis' own",
    ),
    ("decomposable_intra_attention", "decomposable_attention"): (
        "200D Decomposable Attention, intra-sentence attention",
        PARIKH,
    ),
}
# Systems that an accuracy extrapolated to all of SNLI is compared with.
ON_SNLI = {"decomposable_attention": (PARIKH, OWN), "adaptive_attention": ("Adaptive Attention",)}
CHARACTERS = "characters"  # the task without difficulties
NONE = "none"  # halting of a run that takes one step
GATING, ADAPTIVE = "query_gating", "adaptive_computation"
STRATEGIES = {GATING: "query gating", ADAPTIVE: "adaptive computation"}
TASKS = pd.read_csv(HERE / "tasks.csv", dtype=str).set_index("task")  # of Graves
ON_CHARACTERS = (
    "Graves (3.5; LSTM 1500, windows of 500 bytes) reports about the same bits with and without "
    "ACT, and pauses at spaces, commas, full stops and markup."
)
# Types of cloze questions, named after the missing words, and where they were published.
QUESTIONS = {"NE": "Named entities", "CN": "Common nouns", "WDW": "Who-Did-What"}
BENCHMARKS = {
    **{"NE": "Children's Book Test, named entities", "CN": "Children's Book Test, common nouns"},
    "WDW": "Who-Did-What",
}


@cache
def snli() -> pd.DataFrame:
    """Return the published systems."""
    return pd.read_csv(HERE / "snli.csv", keep_default_na=False, dtype=str)


@cache
def cloze() -> pd.DataFrame:
    """Return the published readers of cloze questions."""
    return pd.read_csv(HERE / "cloze.csv")


def accuracy(system: str) -> float:
    """Return SNLI test accuracy of a system, in per cent as printed."""
    return float(snli().set_index("system").loc[system, "accuracy"])
