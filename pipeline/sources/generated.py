"""What generated corpora share: labels and depths in balance, and pairs that no split shares."""

from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from itertools import cycle, islice, product
from random import Random

from actmodels.data.labels import LABELS
from actmodels.errors import ConfigError
from pipeline.sources.jsonl import UNLABELLED, Pair

# Of every TENTHS pairs of sentences that can be, a split may have those of its own residues.
TENTHS = 10
RESIDUES = {"train": range(0, 8), "dev": range(8, 9), "test": range(9, 10)}
TRIES = 10_000  # for one pair, before the corpus is said to be exhausted

# Premise and hypothesis of a label and a depth, one after the other without end.
Draw = Callable[[str, int], Iterator[tuple[str, str]]]


def generate(
    name: str,
    split: str,
    random: Random,
    draw: Draw,
    *,
    pairs: int,
    depths: Iterable[int],
    unlabelled: float = 0.0,
) -> Iterator[Pair]:
    """The pairs of one split; no pair of sentences occurs twice, within it or in another.

    The labelled pairs are balanced over label and depth jointly, in random order.

    Args:
        name: of the corpus, which is also its section in params.yaml.
        split: train, dev or test.
        random: where all chance of this split comes from, that of `draw` too.
        pairs: how many have a label. unlabelled: how many come on top without, as a share.

    Raises:
        ConfigError: there are no further pairs.
    """
    seen: set[tuple[str, str]] = set()
    for number, (label, depth) in enumerate(schedule(random, pairs, [*depths], unlabelled)):
        for pair in islice(draw(label, depth), TRIES):
            if pair not in seen and residue(*pair) in RESIDUES[split]:
                break
        else:
            problem = (
                f"corpus.{name}: no further pair of depth {depth} was found for {split} after "
                f"{len(seen):,} of all depths; lower {split}, or allow for more sentences"
            )
            raise ConfigError("params.yaml", [problem])
        seen.add(pair)
        yield Pair(f"{name}-{split}-{number:06d}", label, *pair, depth)


def schedule(
    random: Random, pairs: int, depths: list[int], unlabelled: float
) -> list[tuple[str, int]]:
    """Label and depth of every pair of a split, balanced, then shuffled."""
    rows = list(islice(cycle((label, depth) for depth, label in product(depths, LABELS)), pairs))
    rows += islice(cycle((UNLABELLED, depth) for depth in depths), round(pairs * unlabelled))
    random.shuffle(rows)
    return rows


def residue(premise: str, hypothesis: str) -> int:
    """Which tenth of all pairs of sentences this one is in: decides its split for good."""
    digest = sha256(f"{premise}\n{hypothesis}".encode()).digest()
    return int.from_bytes(digest[:4]) % TENTHS
