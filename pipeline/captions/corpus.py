"""The embedded corpus: generated captions, labelled by construction, the same for a seed."""

from collections.abc import Iterator
from hashlib import sha256
from itertools import cycle, islice, product

from actmodels.data.pairs import LABELS
from actmodels.errors import ConfigError
from pipeline.captions.chance import Chance
from pipeline.captions.pairs import draw_ambiguous, draw_pair
from pipeline.captions.scenes import Meaning
from pipeline.captions.sentences import realise
from pipeline.parameters.captions_section import Captions
from pipeline.sources.jsonl import UNLABELLED, Pair

# Of every TENTHS pairs of sentences that can be, a split may have those of its own residues.
TENTHS = 10
MEANINGS = 1000  # drawn for one pair before the corpus is said to be exhausted
WORDINGS = 10  # of one pair of meanings, tried before other meanings are drawn
RESIDUES = {"train": range(0, 8), "dev": range(8, 9), "test": range(9, 10)}


def generate_split(settings: Captions, split: str) -> Iterator[Pair]:
    """The pairs of one split; no pair of sentences occurs twice, within it or in another.

    The labelled pairs are balanced over label and depth jointly, in random order; a share
    `unlabelled` of their number comes on top.

    Args:
        settings: seed, pairs per split, share of "-" rows, greatest depth.
        split: train, dev or test.
    """
    chance = Chance(settings, split)
    seen: set[tuple[str, str]] = set()
    for number, (label, depth) in enumerate(schedule(chance, split)):
        premise, hypothesis = draw_sentences(chance, label, depth, split, seen)
        yield Pair(f"captions-{split}-{number:06d}", label, premise, hypothesis, depth)


def schedule(chance: Chance, split: str) -> list[tuple[str, int]]:
    """Label and depth of every pair of a split, balanced, then shuffled."""
    settings = chance.settings
    labelled = getattr(settings, split)
    depths = range(1, settings.max_depth + 1)
    kinds = cycle((label, depth) for depth, label in product(depths, LABELS))
    rows = list(islice(kinds, labelled))
    others = cycle((UNLABELLED, depth) for depth in depths)
    rows += islice(others, round(labelled * settings.unlabelled))
    chance.shuffle(rows)
    return rows


def draw_sentences(
    chance: Chance, label: str, depth: int, split: str, seen: set[tuple[str, str]]
) -> tuple[str, str]:
    """Premise and hypothesis that are new and belong to this split.

    Raises:
        ConfigError: there are none left.
    """
    for _ in range(MEANINGS):
        premise, hypothesis = draw_meanings(chance, label, depth)
        for _ in range(WORDINGS):
            pair = (realise(chance, premise), realise(chance, hypothesis))
            if pair not in seen and residue(*pair) in RESIDUES[split]:
                seen.add(pair)
                return pair
    problem = (
        f"corpus.captions: no further pair of depth {depth} was found for {split} after "
        f"{len(seen):,} of all depths; lower {split}, or speak of more (facts, common, usual)"
    )
    raise ConfigError("params.yaml", [problem])


def draw_meanings(chance: Chance, label: str, depth: int) -> tuple[Meaning, Meaning]:
    """The meanings of a pair of this label, "-" included."""
    if label == UNLABELLED:
        return draw_ambiguous(chance, depth)
    return draw_pair(chance, label, depth)


def residue(premise: str, hypothesis: str) -> int:
    """Which tenth of all pairs of sentences this one is in: decides its split for good."""
    digest = sha256(f"{premise}\n{hypothesis}".encode()).digest()
    return int.from_bytes(digest[:4]) % TENTHS
