"""The embedded corpus `chains`: what is in what, found by following one link after another.

    Jar in bag. Tin in purse. Bag in crate. Purse in sack. Box in drum. Crate in attic. Drum in urn.
    Sack in cellar. Urn in doubt.                              Tin in cellar.

A premise is three chains of links in random order, all of `max_depth` links: two end in a room,
one in doubt. The hypothesis places something of a chain in one of the two rooms: entailment for
its own, contradiction for the other one, neutral for what is in doubt. How many links lie between
it and the end of its chain is the pair's depth. So each premise goes with as many hypotheses of
each label, at each depth, of the very same words but for the thing and the room, which all stand
in the premise: neither sentence tells the label, nor does any pair of words across them, nor any
count, and length tells no depth. Only who follows the links knows. Beyond `max_depth` the chains
are as long as the depth.
"""

from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from random import Random

from pipeline.parameters.generated_sections import Chains
from pipeline.sources.generated import generate
from pipeline.sources.jsonl import Pair

THINGS = (
    *("bag", "barrel", "basket", "bin", "box", "bucket", "can", "case", "chest", "crate", "drum"),
    *("jar", "pot", "purse", "sack", "tin", "trunk", "urn"),
)
ROOMS = ("attic", "cellar", "garage", "kitchen")
CHAINS = 3  # one by label


def generate_split(settings: Chains, split: str) -> Iterator[Pair]:
    """The pairs of one split: train, dev or test; test alone has the depths beyond.

    Raises:
        ConfigError: there are fewer pairs than the settings ask for.
    """
    random = Random(f"chains {settings.seed} {split}")
    deepest = settings.max_depth + (settings.beyond if split == "test" else 0)
    pairs, draw = getattr(settings, split), partial(draw_pairs, random, settings.max_depth)
    return generate("chains", split, random, draw, pairs=pairs, depths=range(1, deepest + 1))


def draw_pairs(random: Random, links: int, label: str, depth: int) -> Iterator[tuple[str, str]]:
    """Premise and hypothesis of this label and depth, without end; chains have `links` or more."""
    links = max(links, depth)
    while True:
        things = random.sample(THINGS, CHAINS * links)
        chains = [things[place * links : (place + 1) * links] for place in range(CHAINS)]
        rooms = random.sample(ROOMS, CHAINS - 1)
        ends = zip(chains, (*rooms, "doubt"), strict=True)
        said = [f"{a} in {b}" for chain, end in ends for a, b in pairwise((*chain, end))]
        random.shuffle(said)
        asked = random.randrange(len(rooms))
        about = {"entailment": asked, "contradiction": 1 - asked, "neutral": len(rooms)}[label]
        premise = " ".join(f"{link.capitalize()}." for link in said)
        yield premise, f"{chains[about][-depth].capitalize()} in {rooms[asked]}."
