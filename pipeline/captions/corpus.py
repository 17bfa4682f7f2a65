"""The embedded corpus: generated captions, labelled by construction, the same for a seed."""

from collections.abc import Iterator
from functools import partial

from pipeline.captions.chance import Chance
from pipeline.captions.pairs import draw_pair
from pipeline.captions.sentences import Caption, realise
from pipeline.parameters.generated_sections import Captions
from pipeline.sources.generated import generate
from pipeline.sources.jsonl import Pair

WORDINGS = 10  # of one pair of meanings, tried before other meanings are drawn


def generate_split(settings: Captions, split: str) -> Iterator[Pair]:
    """The pairs of one split: train, dev or test.

    Raises:
        ConfigError: the settings allow for too few sentences.
    """
    chance = Chance(settings, split)
    depths = range(1, settings.max_depth + 1)
    size = {"pairs": getattr(settings, split), "unlabelled": settings.unlabelled}
    draw = partial(wordings, chance)
    for pair in generate("captions", split, chance, draw, depths=depths, **size):
        assert isinstance(pair.premise, Caption)
        assert isinstance(pair.hypothesis, Caption)
        parses = (pair.premise.parse, pair.hypothesis.parse)
        yield Pair(*pair[:5], *parses)


def wordings(chance: Chance, label: str, depth: int) -> Iterator[tuple[Caption, Caption]]:
    """Premise and hypothesis of this label, "-" included, without end."""
    while True:
        premise, hypothesis = draw_pair(chance, label, depth)
        for _ in range(WORDINGS):
            yield realise(chance, premise), realise(chance, hypothesis)
