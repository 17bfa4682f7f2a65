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

Train alone has what is easier to learn from: a share `shortest` of its premises whose chains have
no more links than are to be followed, the others any number; and for a share `stated` of its pairs
of depth 1 a hypothesis that places a thing in what its own link leads to or, for a contradiction,
another chain's. Without these no second link was learned: only the ends had to be found.
"""

from collections.abc import Iterator
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
STATED = 3  # links of a chain, for one between two things of which neither is the chain's first


def generate_split(settings: Chains, split: str) -> Iterator[Pair]:
    """The pairs of one split: train, dev or test; test alone has the depths beyond.

    Raises:
        ConfigError: there are fewer pairs than the settings ask for.
    """
    random = Random(f"chains {settings.seed} {split}")
    deepest = settings.max_depth + (settings.beyond if split == "test" else 0)

    def draw(label: str, depth: int) -> Iterator[tuple[str, str]]:
        while True:
            links = max(settings.max_depth, depth)
            if split != "train":
                yield draw_pair(random, links, label, depth)
                continue
            stated = depth == 1 and random.random() < settings.stated
            least = min(STATED, links) if stated else depth
            most = least if random.random() < settings.shortest else links
            yield draw_pair(random, random.randint(least, most), label, None if stated else depth)

    pairs, depths = getattr(settings, split), range(1, deepest + 1)
    return generate("chains", split, random, draw, pairs=pairs, depths=depths)


def draw_pair(random: Random, links: int, label: str, depth: int | None) -> tuple[str, str]:
    """Premise and hypothesis of this label.

    Args:
        links: of each chain.
        depth: of them are to be followed to the room asked for; None: one, wherever it leads to.
    """
    things = random.sample(THINGS, CHAINS * links)
    chains = [things[place * links : (place + 1) * links] for place in range(CHAINS)]
    ends = (*random.sample(ROOMS, CHAINS - 1), "doubt")
    placed = [[*chain, end] for chain, end in zip(chains, ends, strict=True)]
    said = [f"{a} in {b}" for chain in placed for a, b in pairwise(chain)]
    random.shuffle(said)
    asked = random.randrange(CHAINS - 1)
    about = {"entailment": asked, "contradiction": 1 - asked, "neutral": CHAINS - 1}[label]
    if depth is None:  # never the first of a chain, which alone stands in nothing that is named
        thing = random.randrange(1, links) if links > 1 else 0
        target = placed[asked][thing + 1]
        thing = links - 1 if label == "neutral" else thing
    else:
        thing, target = links - depth, placed[asked][-1]
    premise = " ".join(f"{link.capitalize()}." for link in said)
    return premise, f"{chains[about][thing].capitalize()} in {target}."
