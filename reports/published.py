"""Published results with their sources.

snli.csv: test accuracy on all of SNLI in percent; parameters without word vectors.
"""

from pathlib import Path

import pandas as pd

HERE = Path(__file__).with_suffix("")
SOURCES = (
    "Neumann et al. 2016 is arXiv:1610.07647, Neumann's thesis *Learning to Reason with Adaptive "
    "Computation* (MSc, University College London, 2016), Munkhdalai & Yu 2017 arXiv:1607.04492."
)
OWN, PARIKH = "200D Decomposable Attention, the paper's own", "200D Decomposable Attention"
# The paper's ablation: number of steps to test accuracy in percent.
BY_STEPS: dict[int | str, float] = {2: 76.2, 4: 81.7, 8: 81.0, "adaptive": 82.7}
MEAN_STEPS = 5  # of its adaptive model (section 5)
# Pairs of our models, and the published systems with the corresponding difference.
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
SNLI = pd.read_csv(HERE / "snli.csv", keep_default_na=False, dtype=str)


def accuracy(system: str) -> float:
    """Return the SNLI test accuracy of a system in percent."""
    return float(SNLI.set_index("system").loc[system, "accuracy"])
