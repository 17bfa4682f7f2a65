"""Generate the embedded corpus: caption pairs, labeled by construction, deterministic by seed."""

from collections.abc import Iterator
from hashlib import sha256
from itertools import cycle, islice, product

from actmodels.errors import ConfigError
from pipeline.datasets.pairs import UNLABELED, Pair
from pipeline.parameters.labels import NLI
from pipeline.parameters.schema import Captions
from pipeline.synthetic.pairs import Sampler, draw_pair
from pipeline.synthetic.sentences import Caption, realize

WORDINGS = 10  # tries per pair of meanings
TRIES = 10_000  # per pair of sentences, before the corpus counts as exhausted
# The hash of a pair assigns it to a tenth, and each tenth belongs to one split.
TENTHS = {"train": range(8), "dev": [8], "test": [9]}


def generate_split(settings: Captions, split: str) -> Iterator[Pair]:
    """Yield the pairs of one split; no pair occurs twice in the corpus.

    Labeled pairs are balanced over label and depth jointly, in random order.

    Raises:
        ConfigError: the settings allow too few sentences.
    """
    sampler = Sampler(settings, split)
    seen: set[tuple[str, str]] = set()
    for number, (label, depth) in enumerate(schedule(sampler, getattr(settings, split))):
        for premise, hypothesis in islice(draw_captions(sampler, label, depth), TRIES):
            digest = sha256(f"{premise}\n{hypothesis}".encode()).digest()
            tenth = int.from_bytes(digest[:4]) % 10
            if tenth in TENTHS[split] and (premise, hypothesis) not in seen:
                break
        else:
            problem = (
                f"corpus.captions: no new pair of depth {depth} for {split} after {len(seen):,} "
                f"pairs of all depths; lower {split}, or allow more sentences"
            )
            raise ConfigError("params.yaml", [problem])
        seen.add((premise, hypothesis))
        yield {
            "gold_label": label,
            "sentence1": premise,
            "sentence2": hypothesis,
            "pairID": f"captions-{split}-{number:06d}",
            "reasoning_depth": depth,
            "sentence1_binary_parse": premise.parse,
            "sentence2_binary_parse": hypothesis.parse,
        }


def schedule(sampler: Sampler, pairs: int) -> list[tuple[str, int]]:
    """Return the balanced, shuffled labels and depths of the pairs of a split."""
    depths = range(1, sampler.settings.max_depth + 1)
    unlabeled = round(pairs * sampler.settings.unlabeled)
    rows = list(islice(cycle((label, depth) for depth, label in product(depths, NLI)), pairs))
    rows += islice(cycle((UNLABELED, depth) for depth in depths), unlabeled)
    sampler.shuffle(rows)
    return rows


def draw_captions(sampler: Sampler, label: str, depth: int) -> Iterator[tuple[Caption, Caption]]:
    """Yield premises and hypotheses with this label, indefinitely."""
    while True:
        premise, hypothesis = draw_pair(sampler, label, depth)
        for _ in range(WORDINGS):
            yield realize(sampler, premise), realize(sampler, hypothesis)
