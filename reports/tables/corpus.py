"""Which corpus the figures belong to, and whether they may stand beside published ones."""

from dataclasses import dataclass

from reports.stored.artefacts import Artefacts

SNLI_TRAIN = 549_367  # labelled training pairs of SNLI 1.0 (paper appendix D)


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
