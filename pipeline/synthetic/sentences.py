"""Realize meanings as English sentences, with varied word order, clause type and wording.

Each function has access to one meaning and not to its pair, so wording cannot reveal a label.
Constituents stay marked until the sentence is complete; the marks give its parse.
"""

import re

from pipeline.datasets.tokenizer import right_branching_parse
from pipeline.synthetic.lexicon import CONCEPTS, GARMENTS
from pipeline.synthetic.pairs import Sampler
from pipeline.synthetic.scenes import SCENE, Meaning, Value

NEXT_TO = ("near", "beside")
PLACES = CONCEPTS["place"].concepts.values()
LOCATIONS = frozenset(singular for place in PLACES for singular, _ in place.forms)
IMPERSONAL = ("this is happening", "this takes place", "the scene is set")

OPEN, CLOSE = "\N{MATHEMATICAL LEFT ANGLE BRACKET}", "\N{MATHEMATICAL RIGHT ANGLE BRACKET}"
PIECE = re.compile(rf"[{OPEN}{CLOSE},]|[^\s{OPEN}{CLOSE},]+")


class Caption(str):
    """A sentence with its marked constituents."""

    marked: str

    @property
    def parse(self) -> str:
        """Binary parse in the notation of SNLI; three parts are ( first ( second third ) )."""
        open_parts: list[list[str]] = [[]]
        for piece in PIECE.findall(self.marked):
            if piece == OPEN:
                open_parts.append([])
            else:
                whole = right_branching_parse(open_parts.pop()) if piece == CLOSE else piece
                open_parts[-1].append(whole)
        return right_branching_parse(open_parts.pop())


def _be(plural: bool) -> str:
    return "are" if plural else "is"


def _part(*words: str) -> str:
    """Mark words as one constituent."""
    return f"{OPEN}{' '.join(words)}{CLOSE}"


def _plain(marked: str) -> str:
    return marked.replace(OPEN, "").replace(CLOSE, "")


def realize(sampler: Sampler, meaning: Meaning) -> Caption:
    """Return an English sentence that states exactly the facts of the meaning."""
    facts = meaning.facts
    weather = facts.get((SCENE, "weather"))
    clause = weather is not None and (weather.negated or not meaning.cast or sampler.happens(0.4))
    idle = not any(slot in ("action", "relation") for _, slot in facts)
    elsewhere = ("relation", "weather") if clause else ("relation",)
    adjuncts = [
        wording(sampler, value)
        for (owner, slot), value in facts.items()
        if owner == SCENE and slot not in elsewhere
    ]
    sampler.shuffle(adjuncts)
    adjuncts.sort(key=lambda adjunct: idle and adjunct not in LOCATIONS)
    build = with_weather if clause else scene_clause
    body = build(sampler, meaning, adjuncts)
    marked = re.sub(r"\w", lambda first: first[0].upper(), body, count=1)
    caption = Caption(f"{_plain(marked)}.")
    caption.marked = f"{_part(marked)} ."
    return caption


def with_weather(sampler: Sampler, meaning: Meaning, adjuncts: list[str]) -> str:
    """Return the sentence with a weather clause such as "it is raining"."""
    sky = wording(sampler, meaning.facts[SCENE, "weather"], clause=True)
    if not meaning.cast:
        return " ".join(map(_part, [sky, *adjuncts]))
    rest = scene_clause(sampler, meaning, adjuncts)
    patterns = ["{sky} and {rest}"]
    # "not" must not scope over the weather, and a sentence has at most one "while"
    if " while " not in rest and not any(value.negated for value in meaning.facts.values()):
        patterns += ["{sky} while {rest}", "{rest} while {sky}"]
    return sampler.choice(patterns).format(sky=_part(sky), rest=_part(rest))


def scene_clause(sampler: Sampler, meaning: Meaning, adjuncts: list[str]) -> str:
    """Return the main clause with its adjuncts of place and time before or after it."""
    if not meaning.cast:
        return " ".join(map(_part, [sampler.choice(IMPERSONAL), *adjuncts]))
    acts = [v for k, v in meaning.facts.items() if k[1] in ("action", "relation")]
    negated = any(value.negated for value in acts)
    front: list[str] = []
    if adjuncts and (negated or len(meaning.cast) == 2 or sampler.happens(0.3)):
        moved = len(adjuncts) if negated or sampler.happens(0.3) else 1
        front, adjuncts = adjuncts[:moved], adjuncts[moved:]
    build = interaction if (SCENE, "relation") in meaning.facts else main_clause
    core = build(sampler, meaning, adjuncts)
    return f"{_part(*map(_part, front))}, {_part(core)}" if front else core


def main_clause(sampler: Sampler, meaning: Meaning, adjuncts: list[str]) -> str:
    """Return a clause about one or two participants; adjuncts follow their verb."""
    owners = list(meaning.cast)
    sampler.shuffle(owners)
    owners.sort(key=lambda i: (i, "action") not in meaning.facts)  # participants who act come first
    phrases = [noun_phrase(sampler, meaning, i) for i in owners]
    actions = [meaning.facts.get((i, "action")) for i in owners]
    plurals = [meaning.frame.participants[i].plural for i in owners]
    alone = len(owners) == 1
    first = predicate(sampler, phrases[0], plurals[0], actions[0], adjuncts, alone)
    if alone:
        return first
    if actions[1] is not None:
        second = predicate(sampler, phrases[1], plurals[1], actions[1], [], False)
        return f"{_part(first)} {sampler.choice(('while', 'and'))} {_part(second)}"
    adjuncts = [f"{sampler.choice(NEXT_TO)} {_part(phrases[1])}", *adjuncts]
    if actions[0] is None:
        subject, verb, where = _part(phrases[0]), _be(plurals[0]), map(_part, adjuncts)
        rest = " ".join(where)
        patterns = (f"there {_part(verb, subject, rest)}", f"{subject} {_part(verb, rest)}")
        return sampler.choice(patterns)
    if actions[0].negated:
        return f"{_part(first)} and {_part(_part(phrases[1]), _part(_be(plurals[1]), 'nearby'))}"
    return predicate(sampler, phrases[0], plurals[0], actions[0], adjuncts, False)


def predicate(
    sampler: Sampler,
    subject: str,
    plural: bool,
    action: Value | None,
    adjuncts: list[str],
    alone: bool,
) -> str:
    """Return subject and verb, after "there is" if nothing else is stated, or at random."""
    verb = _be(plural)
    participle = [] if action is None else [_part(wording(sampler, action, plural))]
    negated = action is not None and action.negated
    # "There is someone who is sad reading" is hard to read.
    plain = _plain(subject)
    simple = not negated and " who " not in plain and " that " not in plain
    existential = alone and simple and sampler.happens(0.4)
    located = bool(adjuncts) and (not alone or adjuncts[0] in LOCATIONS)
    where = map(_part, adjuncts)
    if existential or not (participle or located):
        return f"there {_part(verb, _part(subject), *participle, *where)}"
    return f"{_part(subject)} {_part(verb, *['not'] * negated, *participle, *where)}"


def interaction(sampler: Sampler, meaning: Meaning, adjuncts: list[str]) -> str:
    """Return a clause in which one participant acts on the other, active or passive."""
    relation = meaning.facts[SCENE, "relation"]
    agent, patient = (1, 0) if relation.backwards else (0, 1)
    active, passive = sampler.choice(relation.concept.forms)
    order, verb = (agent, patient), active
    if sampler.happens(0.4):
        order, verb = (patient, agent), f"being {passive} by"
    subject, other = (noun_phrase(sampler, meaning, i) for i in order)
    if subject.startswith("someone") and other.startswith("someone"):
        other = other.replace("someone", "someone else", 1)
    be = _be(meaning.frame.participants[order[0]].plural)
    negation = ["not"] * relation.negated
    return (
        f"{_part(subject)} {_part(be, *negation, _part(verb), _part(other), *map(_part, adjuncts))}"
    )


def wording(sampler: Sampler, value: Value, plural: bool = False, clause: bool = False) -> str:
    """Draw one of the wordings of a fact; `clause` requests the clause form of the weather."""
    forms = value.concept.forms
    form = forms[0] if sampler.happens(sampler.settings.usual) else sampler.choice(forms)
    if value.slot != "weather":
        return form[plural]
    if clause and value.negated:
        return form[1].replace(" is ", " is not ", 1)
    return form[clause]


def noun_phrase(sampler: Sampler, meaning: Meaning, owner: int) -> str:
    """Return determiner, adjectives, noun, clothes and relative clause of a participant."""
    who = meaning.frame.participants[owner]
    about = {key[1]: value for key, value in meaning.facts.items() if key[0] == owner}
    before: list[str] = []
    after: list[str] = []
    for slot in ("mood", "size", "age", *["color"] * who.animal):
        if (value := about.get(slot)) is not None:
            word = wording(sampler, value)
            late = " " in word or value.negated or (slot == "mood" and sampler.happens(0.4))
            (after if late else before).append(f"not {word}" if value.negated else word)
    if (kind := about.get("kind")) is not None:
        noun = wording(sampler, kind, who.plural)
    elif who.animal:
        noun = "animals" if who.plural else "animal"
    else:
        noun = "people" if who.plural else "person" if before else "someone"
    words = [*before, noun, *_clothes(sampler, meaning, owner, about)]
    if (head := about.get("headgear")) is not None and head.negated:
        after.append(f"not wearing {wording(sampler, head, who.plural)}")
    if after:
        relative = "that" if who.animal else "who"
        words.append(_part(relative, _part(_be(who.plural), " and ".join(after))))
    if (count := about.get("count")) is not None:
        words.insert(0, wording(sampler, count))
    elif who.plural:
        words[:0] = ["some"] * sampler.happens(0.6)
    elif words[0] != "someone":
        words[0] = _article(words[0], who.plural)
    return " ".join(words)


def _clothes(sampler: Sampler, meaning: Meaning, owner: int, about: dict[str, Value]) -> list[str]:
    """Return phrases such as `in a red shirt and a hat`."""
    who = meaning.frame.participants[owner]
    color, head = about.get("color"), about.get("headgear")
    worn: list[str] = []
    bare_head: list[str] = []
    if head is not None and not head.negated:
        word = wording(sampler, head, who.plural)
        (bare_head if word.endswith("head") else worn).append(word)
    if not who.animal and (color is not None or owner in meaning.bare):
        garment = GARMENTS[who.garment][who.plural]
        shade = "" if color is None else wording(sampler, color)
        if color is not None and color.negated:
            worn.append(f"{_article(garment, who.plural)} that {_be(who.plural)} not {shade}")
        else:
            worn.insert(0, _article(f"{shade} {garment}".strip(), who.plural))
    phrase = [_part(sampler.choice(("in", "wearing")), " and ".join(worn))] if worn else []
    return phrase + [_part("with", word) for word in bare_head]


def _article(phrase: str, plural: bool) -> str:
    return phrase if plural else f"{'an' if phrase[0] in 'aeiou' else 'a'} {phrase}"
