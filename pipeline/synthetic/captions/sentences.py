"""Meanings in English: word order, clause type and wording vary, agreement and articles hold.

Every function sees one meaning alone, never its pair: wording cannot tell a label. Parts stay
marked until the sentence is whole, which gives its parse.
"""

import re

from pipeline.datasets.parses import folded
from pipeline.synthetic.captions.lexicon import GARMENTS, VOCABULARIES
from pipeline.synthetic.captions.sampling import Sampler
from pipeline.synthetic.captions.scenes import SCENE, Meaning, Value

BESIDE = ("near", "beside")
PLACES = VOCABULARIES["place"].concepts.values()
WHERE = frozenset(one for place in PLACES for one, _ in place.forms)
IMPERSONAL = ("this is happening", "this takes place", "the scene is set")

OPEN, CLOSE = "\N{MATHEMATICAL LEFT ANGLE BRACKET}", "\N{MATHEMATICAL RIGHT ANGLE BRACKET}"
PIECE = re.compile(rf"[{OPEN}{CLOSE},]|[^\s{OPEN}{CLOSE},]+")


class Caption(str):
    """A sentence that knows its parts."""

    marked: str

    @property
    def parse(self) -> str:
        """Its binary parse, as SNLI has them; three parts are ( first ( second third ) )."""
        open_parts: list[list[str]] = [[]]
        for piece in PIECE.findall(self.marked):
            if piece == OPEN:
                open_parts.append([])
            else:
                whole = folded(open_parts.pop()) if piece == CLOSE else piece
                open_parts[-1].append(whole)
        return folded(open_parts.pop())


def _be(plural: bool) -> str:
    return "are" if plural else "is"


def _part(*words: str) -> str:
    """Words that belong together, marked as one part of a sentence."""
    return f"{OPEN}{' '.join(words)}{CLOSE}"


def _parts(phrases: list[str]) -> list[str]:
    return [_part(phrase) for phrase in phrases]


def _plain(marked: str) -> str:
    return marked.replace(OPEN, "").replace(CLOSE, "")


def realise(sampler: Sampler, meaning: Meaning) -> Caption:
    """One English sentence that states exactly the facts of the meaning."""
    facts = meaning.facts
    weather = facts.get((SCENE, "weather"))
    clause = weather is not None and (weather.negated or not meaning.cast or sampler.happens(0.4))
    idle = not any(slot in ("action", "relation") for _, slot in facts)
    elsewhere = ("relation", "weather") if clause else ("relation",)
    adjuncts = [
        spoken(sampler, value)
        for (owner, slot), value in facts.items()
        if owner == SCENE and slot not in elsewhere
    ]
    sampler.shuffle(adjuncts)
    adjuncts.sort(key=lambda adjunct: idle and adjunct not in WHERE)
    build = with_weather if clause else scene_clause
    body = build(sampler, meaning, adjuncts)
    marked = re.sub(r"\w", lambda first: first[0].upper(), body, count=1)
    caption = Caption(f"{_plain(marked)}.")
    caption.marked = f"{_part(marked)} ."
    return caption


def with_weather(sampler: Sampler, meaning: Meaning, adjuncts: list[str]) -> str:
    """The sentence with a clause such as "it is raining"."""
    sky = spoken(sampler, meaning.facts[SCENE, "weather"], clause=True)
    if not meaning.cast:
        return " ".join(_parts([sky, *adjuncts]))
    rest = scene_clause(sampler, meaning, adjuncts)
    patterns = ["{sky} and {rest}"]
    # A "not" must not reach into the weather, and one "while" is enough.
    if " while " not in rest and not any(value.negated for value in meaning.facts.values()):
        patterns += ["{sky} while {rest}", "{rest} while {sky}"]
    return sampler.choice(patterns).format(sky=_part(sky), rest=_part(rest))


def scene_clause(sampler: Sampler, meaning: Meaning, adjuncts: list[str]) -> str:
    """Who does what, with place and time before or after it."""
    if not meaning.cast:
        return " ".join(_parts([sampler.choice(IMPERSONAL), *adjuncts]))
    acts = [v for k, v in meaning.facts.items() if k[1] in ("action", "relation")]
    denied = any(value.negated for value in acts)
    front: list[str] = []
    if adjuncts and (denied or len(meaning.cast) == 2 or sampler.happens(0.3)):
        moved = len(adjuncts) if denied or sampler.happens(0.3) else 1
        front, adjuncts = adjuncts[:moved], adjuncts[moved:]
    core = who_does_what(sampler, meaning, adjuncts)
    return f"{_part(*_parts(front))}, {_part(core)}" if front else core


def who_does_what(sampler: Sampler, meaning: Meaning, adjuncts: list[str]) -> str:
    """The main clause, its adjuncts after the verb they belong to."""
    if (SCENE, "relation") in meaning.facts:
        return interaction(sampler, meaning, adjuncts)
    owners = list(meaning.cast)
    sampler.shuffle(owners)
    owners.sort(key=lambda i: (i, "action") not in meaning.facts)  # those who act come first
    phrases = [noun_phrase(sampler, meaning, i) for i in owners]
    actions = [meaning.facts.get((i, "action")) for i in owners]
    plurals = [meaning.frame.participants[i].plural for i in owners]
    one = len(owners) == 1
    first = predicate(sampler, phrases[0], plurals[0], actions[0], adjuncts, one)
    if one:
        return first
    if actions[1] is not None:
        second = predicate(sampler, phrases[1], plurals[1], actions[1], [], False)
        return f"{_part(first)} {sampler.choice(('while', 'and'))} {_part(second)}"
    adjuncts = [f"{sampler.choice(BESIDE)} {_part(phrases[1])}", *adjuncts]
    if actions[0] is None:
        subject, verb, where = _part(phrases[0]), _be(plurals[0]), _parts(adjuncts)
        patterns = (f"there {_part(verb, subject, *where)}", f"{subject} {_part(verb, *where)}")
        return sampler.choice(patterns)
    if actions[0].negated:
        return f"{_part(first)} and {_part(_part(phrases[1]), _part(_be(plurals[1]), 'nearby'))}"
    return predicate(sampler, phrases[0], plurals[0], actions[0], adjuncts, False)


def predicate(
    sampler: Sampler,
    subject: str,
    plural: bool,
    action: Value | None,
    where: list[str],
    alone: bool,
) -> str:
    """Subject and verb; `there is` where nothing else is stated of the subject, or at random."""
    verb = _be(plural)
    doing = [] if action is None else [_part(spoken(sampler, action, plural))]
    denied = action is not None and action.negated
    # "There is someone who is sad reading" would be hard to read.
    bare = _plain(subject)
    simple = not denied and " who " not in bare and " that " not in bare
    existential = alone and simple and sampler.happens(0.4)
    located = bool(where) and (not alone or where[0] in WHERE)
    if existential or not (doing or located):
        return f"there {_part(verb, _part(subject), *doing, *_parts(where))}"
    return f"{_part(subject)} {_part(verb, *['not'] * denied, *doing, *_parts(where))}"


def interaction(sampler: Sampler, meaning: Meaning, adjuncts: list[str]) -> str:
    """One acts on the other: active or passive."""
    relation = meaning.facts[SCENE, "relation"]
    doer, target = (1, 0) if relation.backwards else (0, 1)
    active, passive = sampler.choice(relation.concept.forms)
    order, verb = (doer, target), active
    if sampler.happens(0.4):
        order, verb = (target, doer), f"being {passive} by"
    subject, other = (noun_phrase(sampler, meaning, i) for i in order)
    if subject.startswith("someone") and other.startswith("someone"):
        other = other.replace("someone", "someone else", 1)
    plural = meaning.frame.participants[order[0]].plural
    denied = ["not"] * relation.negated
    does = _part(_be(plural), *denied, _part(verb), _part(other), *_parts(adjuncts))
    return f"{_part(subject)} {does}"


def spoken(sampler: Sampler, value: Value, plural: bool = False, clause: bool = False) -> str:
    """One of the wordings of a fact; of weather, its clause where asked for."""
    forms = value.concept.forms
    form = forms[0] if sampler.happens(sampler.settings.usual) else sampler.choice(forms)
    if value.slot != "weather":
        return form[plural]
    if clause and value.negated:
        return form[1].replace(" is ", " is not ", 1)
    return form[clause]


def noun_phrase(sampler: Sampler, meaning: Meaning, owner: int) -> str:
    """Determiner, adjectives, noun, clothes, relative clause."""
    who = meaning.frame.participants[owner]
    about = {key[1]: value for key, value in meaning.facts.items() if key[0] == owner}
    before: list[str] = []
    after: list[str] = []
    for slot in ("mood", "size", "age"):
        if (value := about.get(slot)) is not None:
            word = spoken(sampler, value)
            late = " " in word or value.negated or (slot == "mood" and sampler.happens(0.4))
            (after if late else before).append(f"not {word}" if value.negated else word)
    color = about.get("color")
    if who.animal and color is not None:
        fur = spoken(sampler, color)
        (after if color.negated else before).append(f"not {fur}" if color.negated else fur)
    if (kind := about.get("kind")) is not None:
        noun = spoken(sampler, kind, who.plural)
    elif who.animal:
        noun = "animals" if who.plural else "animal"
    else:
        noun = "people" if who.plural else "person" if before else "someone"
    words = [*before, noun, *_clothes(sampler, meaning, owner, about)]
    if (head := about.get("headgear")) is not None and head.negated:
        after.append(f"not wearing {spoken(sampler, head, who.plural)}")
    if after:
        relative = "that" if who.animal else "who"
        words.append(_part(relative, _part(_be(who.plural), " and ".join(after))))
    if (count := about.get("count")) is not None:
        words.insert(0, spoken(sampler, count))
    elif who.plural:
        words[:0] = ["some"] * sampler.happens(0.6)
    elif words[0] != "someone":
        words[0] = _article(words[0], who.plural)
    return " ".join(words)


def _clothes(sampler: Sampler, meaning: Meaning, owner: int, about: dict[str, Value]) -> list[str]:
    """What is worn: `in a red shirt and a hat`, or less."""
    who = meaning.frame.participants[owner]
    color, head = about.get("color"), about.get("headgear")
    worn: list[str] = []
    tail: list[str] = []
    if head is not None and not head.negated:
        word = spoken(sampler, head, who.plural)
        (tail if word.endswith("head") else worn).append(word)
    if not who.animal and (color is not None or owner in meaning.bare):
        garment = GARMENTS[who.garment][who.plural]
        shade = "" if color is None else spoken(sampler, color)
        if color is not None and color.negated:
            worn.append(f"{_article(garment, who.plural)} that {_be(who.plural)} not {shade}")
        else:
            worn.insert(0, _article(f"{shade} {garment}".strip(), who.plural))
    phrase = [_part(sampler.choice(("in", "wearing")), " and ".join(worn))] if worn else []
    return phrase + [_part("with", word) for word in tail]


def _article(phrase: str, plural: bool) -> str:
    return phrase if plural else f"{'an' if phrase[0] in 'aeiou' else 'a'} {phrase}"
