"""Figures that others published, each with where it was read, and where ours may stand beside them.

Rows are as printed in their source, in the order of the paper's table 1, then the thesis, then
what puts both into context. None of them is a result of this project.
"""

from dataclasses import dataclass

from reports.blocks import DASH
from reports.stored.artefacts import Artefacts

TABLE_1 = "Neumann et al. 2016, table 1"
TABLE_6_1 = "Neumann's thesis, table 6.1"
NTI = "as in Munkhdalai & Yu 2017, table 1"
UNITED = "as tabulated in arXiv:2412.09263"
PAPER_MEAN_STEPS = "5"  # its section 5
# What the short names stand for.
SOURCES = (
    "Neumann et al. 2016 is arXiv:1610.07647; Neumann's thesis is *Learning to Reason with "
    "Adaptive Computation*, MSc, University College London, 2016; Munkhdalai & Yu 2017 is "
    "arXiv:1607.04492. *As in* names where a figure was read, if not where it first appeared."
)
SNLI_TRAIN = 549_367  # labelled training pairs of SNLI 1.0 (paper appendix D)


@dataclass(frozen=True)
class Published:
    """One published row.

    parameters: as printed (k thousands, M millions), without word vectors unless it says so.
    accuracy: SNLI test accuracy in per cent, as printed.
    source: where the figure was read, which is not always where it was first reported.
    mean_steps: inference steps per test pair; like parameters a dash if not printed.
    """

    system: str
    parameters: str
    accuracy: float
    source: str
    mean_steps: str = DASH


ROWS = (
    Published(
        "Logistic regression with lexical features",
        "n/a",
        78.2,
        f"Bowman et al. 2015, as in {TABLE_1}",
    ),
    Published("LSTM baseline", "220k", 77.6, f"Bowman et al. 2015, as in {TABLE_1}"),
    Published("1024D Skip-Thought GRU", "15M", 81.4, f"Vendrov et al. 2015, as in {TABLE_1}"),
    Published("SPINN-PI", "3.7M", 83.2, f"Bowman et al. 2016, as in {TABLE_1}"),
    Published(
        "100D LSTM, word-by-word attention",
        "250k",
        83.5,
        f"Rocktäschel et al. 2015, as in {TABLE_1}",
    ),
    Published("200D Decomposable Attention", "380k", 86.3, f"Parikh et al. 2016, as in {TABLE_1}"),
    Published(
        "300D NTI-SLSTM-LSTM, full tree matching",
        "3.3M",
        87.3,
        f"Munkhdalai & Yu 2016, as in {TABLE_1}",
    ),
    Published("200D Decomposable Attention, the paper's own", "380k", 83.8, TABLE_1),
    Published("Adaptive Attention", "990k", 82.7, TABLE_1, PAPER_MEAN_STEPS),
    Published("Adaptive Attention, 2 steps", "990k", 76.2, TABLE_1),
    Published("Adaptive Attention, 4 steps", "990k", 81.7, TABLE_1),
    Published("Adaptive Attention, 8 steps", "990k", 81.0, TABLE_1),
    Published("200D Decomposable Attention, the thesis' own", "380k", 80.2, TABLE_6_1),
    Published("Adaptive IAA", "1.25M", 82.2, TABLE_6_1),
    Published("Adaptive Decomposable Attention", "990k", 83.8, TABLE_6_1),
    Published(
        "LSTM, conditional encoding",
        "3.9M with word vectors",
        80.9,
        "Rocktäschel et al. 2016, as in slides on it",
    ),
    Published("LSTM, attention", "242k", 82.3, f"Rocktäschel et al. 2016, {NTI}"),
    Published(
        "LSTM, word-by-word attention, reimplemented",
        DASH,
        83.29,
        "github.com/junfenglx/reasoning_attention",
    ),
    Published(
        "200D Decomposable Attention, intra-sentence attention",
        "580k",
        86.8,
        f"Parikh et al. 2016, {NTI}",
    ),
    Published("ESIM", DASH, 88.0, "Chen et al. 2017 (arXiv:1609.06038)"),
    Published("BERT-large", DASH, 90.1, UNITED),
    Published("RoBERTa-large", DASH, 91.7, UNITED),
    Published("DeBERTa-v3-large", DASH, 91.9, UNITED),
    Published("RoBERTa-large, self-explaining", "355M", 92.3, UNITED),
    Published("RoBERTa-large, EFL", "355M", 93.1, UNITED),
    Published("UnitedSynT5 3B (claimed)", "3B", 94.7, "arXiv:2412.09263"),
)

# The paper's own ablation: number of steps to test accuracy in per cent; None is adaptive.
PAPER_BY_STEPS: dict[int | None, float] = {2: 76.2, 4: 81.7, 8: 81.0, None: 82.7}

# Which two rows tell what a model gains over another, in the same source.
PUBLISHED_PAIRS = {
    ("adaptive_attention", "decomposable_attention"): (
        "Adaptive Attention",
        "200D Decomposable Attention, the paper's own",
    ),
    ("iterative_attention", "decomposable_attention"): (
        "Adaptive IAA",
        "200D Decomposable Attention, the thesis' own",
    ),
    ("decomposable_intra_attention", "decomposable_attention"): (
        "200D Decomposable Attention, intra-sentence attention",
        "200D Decomposable Attention",
    ),
}


# What was published of models whose accuracy on all of SNLI is foretold.
FORETOLD = {
    "decomposable_attention": (
        "200D Decomposable Attention",
        "200D Decomposable Attention, the paper's own",
    ),
    "adaptive_attention": ("Adaptive Attention",),
}


def published_row(system: str) -> Published:
    """The row of a system."""
    return next(row for row in ROWS if row.system == system)


def published_accuracy(system: str) -> float:
    """SNLI test accuracy of a row, in per cent as printed."""
    return published_row(system).accuracy


@dataclass(frozen=True)
class Corpus:
    """The pairs that were trained and tested on.

    source: `captions` (generated) or `snli`; vectors: `random`, `glove` or unknown (empty).
    """

    source: str
    train: int
    dev: int
    test: int
    vectors: str

    @classmethod
    def of(cls, artefacts: Artefacts) -> "Corpus":
        """The corpus that the tensors were made from."""
        pairs = artefacts.tensors["pairs"]
        return cls(
            source=str(artefacts.corpus["source"]),
            train=int(pairs["train"]),
            dev=int(pairs["dev"]),
            test=int(pairs["test"]),
            vectors=str(artefacts.vectors.get("source", "")),
        )

    @property
    def comparable(self) -> bool:
        """Whether these are figures on all of SNLI."""
        return self.source == "snli" and self.train >= SNLI_TRAIN

    @property
    def label(self) -> str:
        """The corpus in a table cell."""
        if self.source == "captions":
            return f"generated captions, {self.train:,} pairs"
        return "SNLI" if self.comparable else f"SNLI subset, {self.train:,} pairs"

    def sentence(self) -> str:
        """What the figures were measured on, and what they may not be compared with."""
        sizes = f"{self.train:,} training, {self.dev:,} dev and {self.test:,} test pairs"
        if self.source == "captions":
            return (
                f"a generated corpus of captions ({sizes}). Such figures are **not comparable "
                "with those published for SNLI**"
            )
        if self.comparable:
            return f"SNLI ({sizes})"
        return f"a {self.train:,}-pair SNLI subset, **not comparable with full SNLI** ({sizes})"

    def vectors_sentence(self) -> str:
        """Whether the word vectors carried knowledge from elsewhere; empty if not known."""
        wording = {
            "random": "The word vectors were random, so nothing came from pre-training. ",
            "glove": "The word vectors were pre-trained. ",
        }
        return wording.get(self.vectors, "")
