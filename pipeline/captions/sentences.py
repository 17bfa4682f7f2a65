"""Meanings in English: word order, clause type and wording vary, agreement and articles hold.

Everything here looks at one meaning alone, never at its pair: wording cannot tell a label.
"""

from pipeline.captions.chance import Chance
from pipeline.captions.lexicon import PLACES
from pipeline.captions.phrases import noun_phrase, spoken
from pipeline.captions.scenes import SCENE, Meaning, Value

BESIDE = ("near", "beside")
WHERE = frozenset(one for place in PLACES.concepts.values() for one, _ in place.forms)
IMPERSONAL = ("this is happening", "this takes place", "the scene is set")


def realise(chance: Chance, meaning: Meaning) -> str:
    """One English sentence that states exactly the facts of the meaning."""
    facts = meaning.facts
    weather = facts.get((SCENE, "weather"))
    clause = weather is not None and (weather.negated or not meaning.cast or chance.happens(0.4))
    idle = not any(slot in ("action", "relation") for _, slot in facts)
    adjuncts = [
        spoken(chance, value)
        for key, value in facts.items()
        if key[0] == SCENE and key[1] != "relation" and not (clause and key[1] == "weather")
    ]
    chance.shuffle(adjuncts)
    adjuncts.sort(key=lambda adjunct: idle and adjunct not in WHERE)
    if weather is not None and clause:
        body = with_weather(chance, meaning, weather, adjuncts)
    else:
        body = scene_clause(chance, meaning, adjuncts)
    return f"{body[0].upper()}{body[1:]}."


def with_weather(chance: Chance, meaning: Meaning, weather: Value, adjuncts: list[str]) -> str:
    """The sentence with a clause such as "it is raining"."""
    sky = spoken(chance, weather, clause=True)
    if not meaning.cast:
        return " ".join([sky, *adjuncts])
    rest = scene_clause(chance, meaning, adjuncts)
    patterns = ["{sky} and {rest}"]
    # A "not" must not reach into the weather, and one "while" is enough.
    if " while " not in rest and not any(value.negated for value in meaning.facts.values()):
        patterns += ["{sky} while {rest}", "{rest} while {sky}"]
    return chance.choice(patterns).format(sky=sky, rest=rest)


def scene_clause(chance: Chance, meaning: Meaning, adjuncts: list[str]) -> str:
    """Who does what, with place and time before or after it."""
    if not meaning.cast:
        return " ".join([chance.choice(IMPERSONAL), *adjuncts])
    acts = [v for k, v in meaning.facts.items() if k[1] in ("action", "relation")]
    denied = any(value.negated for value in acts)
    front: list[str] = []
    if adjuncts and (denied or len(meaning.cast) == 2 or chance.happens(0.3)):
        moved = len(adjuncts) if denied or chance.happens(0.3) else 1
        front, adjuncts = adjuncts[:moved], adjuncts[moved:]
    core = [who_does_what(chance, meaning, adjuncts)]
    return ", ".join([" ".join(front), *core] if front else core)


def who_does_what(chance: Chance, meaning: Meaning, adjuncts: list[str]) -> str:
    """The main clause, its adjuncts after the verb they belong to."""
    if (SCENE, "relation") in meaning.facts:
        return interaction(chance, meaning, adjuncts)
    owners = list(meaning.cast)
    chance.shuffle(owners)
    owners.sort(key=lambda i: (i, "action") not in meaning.facts)  # those who act come first
    phrases = [noun_phrase(chance, meaning, i) for i in owners]
    actions = [meaning.facts.get((i, "action")) for i in owners]
    verbs = [meaning.frame.participants[i].plural for i in owners]
    first = predicate(chance, phrases[0], verbs[0], actions[0], adjuncts, alone=len(owners) == 1)
    if len(owners) == 1:
        return first
    if actions[1] is None:
        beside = f"{chance.choice(BESIDE)} {phrases[1]}"
        if actions[0] is not None and actions[0].negated:
            return f"{first} and {phrases[1]} {be(verbs[1])} nearby"
        if actions[0] is None:
            return chance.choice((
                " ".join([f"there {be(verbs[0])} {phrases[0]} {beside}", *adjuncts]),
                " ".join([f"{phrases[0]} {be(verbs[0])} {beside}", *adjuncts]),
            ))  # fmt: skip
        return predicate(chance, phrases[0], verbs[0], actions[0], [beside, *adjuncts])
    second = predicate(chance, phrases[1], verbs[1], actions[1], [])
    return f"{first} {chance.choice(('while', 'and'))} {second}"


def predicate(
    chance: Chance,
    subject: str,
    plural: bool,
    action: Value | None,
    adjuncts: list[str],
    alone: bool = False,
) -> str:
    """Subject and verb; `there is` where nothing else is said of the subject, or at will."""
    verb = be(plural)
    doing = [] if action is None else [spoken(chance, action, plural)]
    denied = action is not None and action.negated
    # "There is someone who is sad reading" would be hard to read.
    plain = not denied and " who " not in subject and " that " not in subject
    existential = alone and plain and chance.happens(0.4)
    located = bool(adjuncts) and (not alone or adjuncts[0] in WHERE)
    if existential or not (doing or located):
        return " ".join([f"there {verb} {subject}", *doing, *adjuncts])
    return " ".join([f"{subject} {verb}", *["not"] * denied, *doing, *adjuncts])


def interaction(chance: Chance, meaning: Meaning, adjuncts: list[str]) -> str:
    """One acts on the other: active or passive."""
    relation = meaning.facts[SCENE, "relation"]
    doer, target = (1, 0) if relation.backwards else (0, 1)
    active, passive = chance.choice(relation.concept.forms)
    order, verb = (doer, target), active
    if chance.happens(0.4):
        order, verb = (target, doer), f"being {passive} by"
    subject, other = (noun_phrase(chance, meaning, i) for i in order)
    if subject.startswith("someone") and other.startswith("someone"):
        other = other.replace("someone", "someone else", 1)
    plural = meaning.frame.participants[order[0]].plural
    denied = ["not"] if relation.negated else []
    return " ".join([subject, be(plural), *denied, verb, other, *adjuncts])


def be(plural: bool) -> str:
    """The auxiliary."""
    return "are" if plural else "is"
