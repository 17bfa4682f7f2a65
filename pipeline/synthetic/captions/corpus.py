"""The embedded corpus: generated captions, labeled by construction, the same for a seed."""

from collections.abc import Iterator
from hashlib import sha256
from itertools import cycle, islice, product

from actmodels.configs import LABELS
from actmodels.errors import ConfigError
from pipeline.datasets.snli import UNLABELLED, Pair
from pipeline.parameters.schema import Captions
from pipeline.synthetic.captions.pairs import draw_pair
from pipeline.synthetic.captions.sampling import Sampler
from pipeline.synthetic.captions.sentences import Caption, realise

WORDINGS = 10  # of one pair of meanings, tried before other meanings are drawn
TRIES = 10_000  # for one pair, before the corpus counts as exhausted
# A pair of sentences belongs to one tenth of all that can be, and each tenth to one split.
TENTHS = {"train": range(8), "dev": [8], "test": [9]}


def generate_split(settings: Captions, split: str) -> Iterator[Pair]:
    """The pairs of one split, all different from each other and from those of other splits.

    The labeled pairs are balanced over label and depth jointly, in random order.

    Raises:
        ConfigError: the settings allow for too few sentences.
    """
    sampler = Sampler(settings, split)
    seen: set[tuple[str, str]] = set()
    for number, (label, depth) in enumerate(schedule(sampler, getattr(settings, split))):
        for premise, hypothesis in islice(wordings(sampler, label, depth), TRIES):
            digest = sha256(f"{premise}\n{hypothesis}".encode()).digest()
            tenth = int.from_bytes(digest[:4]) % 10
            if tenth in TENTHS[split] and (premise, hypothesis) not in seen:
                break
        else:
            problem = (
                f"corpus.captions: no further pair of depth {depth} was found for {split} after "
                f"{len(seen):,} of all depths; lower {split}, or allow for more sentences"
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
    """Label and depth of every pair of a split, balanced, then shuffled."""
    depths = range(1, sampler.settings.max_depth + 1)
    unlabeled = round(pairs * sampler.settings.unlabeled)
    rows = list(islice(cycle((label, depth) for depth, label in product(depths, LABELS)), pairs))
    rows += islice(cycle((UNLABELLED, depth) for depth in depths), unlabeled)
    sampler.shuffle(rows)
    return rows


def wordings(sampler: Sampler, label: str, depth: int) -> Iterator[tuple[Caption, Caption]]:
    """Premise and hypothesis of this label, "-" included, without end."""
    while True:
        premise, hypothesis = draw_pair(sampler, label, depth)
        for _ in range(WORDINGS):
            yield realise(sampler, premise), realise(sampler, hypothesis)
