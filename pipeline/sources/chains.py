"""The embedded corpus `chains`: what is where, found by following one link after another.

    The key is in the jar. The coin is in the bag. The jar is in the van. The ring is in the tin.
    The van is in the garage. The bag is in the crate. The tin is in the cart. The crate is lost.
    The cart is in the kitchen.            You can find the key in the garage.

A premise is three chains of as many links as the pair's depth says, in random order: two end in
a room, one in something lost. The hypothesis asks for the first thing of a chain in one of the
two rooms: entailment for its own, contradiction for the other one, neutral for what is lost. So
each premise goes with six hypotheses, two of each label, of the very same words but for the
thing and the room, which all stand in the premise: neither sentence tells the label, nor does
any pair of words across them, nor any count. Only who follows the links knows.
"""

from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from random import Random

from pipeline.parameters.generated_sections import Chains
from pipeline.sources.generated import generate
from pipeline.sources.jsonl import Pair

THINGS = ("key", "ring", "coin", "letter", "ticket", "stamp", "pen", "button")
# From small to large, as they stand in a chain.
CONTAINERS = (
    *("purse", "tin", "jar", "box", "bag", "basket", "drawer", "bucket", "barrel", "crate"),
    *("suitcase", "chest", "trunk", "wardrobe", "cart", "car", "van", "boat"),
)
ROOMS = ("kitchen", "garage", "attic", "cellar", "garden", "office")
CHAINS = 3  # one by label


def generate_split(settings: Chains, split: str) -> Iterator[Pair]:
    """The pairs of one split: train, dev or test; test alone has the depths beyond.

    Raises:
        ConfigError: there are fewer pairs than the settings ask for.
    """
    random = Random(f"chains {settings.seed} {split}")
    deepest = settings.max_depth + (settings.beyond if split == "test" else 0)
    pairs, draw = getattr(settings, split), partial(draw_pairs, random)
    return generate("chains", split, random, draw, pairs=pairs, depths=range(1, deepest + 1))


def draw_pairs(random: Random, label: str, depth: int) -> Iterator[tuple[str, str]]:
    """Premise and hypothesis of this label and depth, without end."""
    while True:
        things, rooms = random.sample(THINGS, CHAINS), random.sample(ROOMS, CHAINS - 1)
        containers = random.sample(CONTAINERS, CHAINS * (depth - 1))
        links = []
        for place, thing in enumerate(things):
            between = sorted(containers[place::CHAINS], key=CONTAINERS.index)
            links += [f"The {a} is in the {b}." for a, b in pairwise((thing, *between))]
            end = f"in the {rooms[place]}" if place < len(rooms) else "lost"
            links.append(f"The {(thing, *between)[-1]} is {end}.")
        random.shuffle(links)
        asked = random.randrange(len(rooms))
        about = {"entailment": asked, "contradiction": 1 - asked, "neutral": len(rooms)}[label]
        yield " ".join(links), f"You can find the {things[about]} in the {rooms[asked]}."
