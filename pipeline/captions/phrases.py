"""Noun phrases and the wording of single facts."""

from pipeline.captions.chance import Chance
from pipeline.captions.lexicon import GARMENTS
from pipeline.captions.scenes import Meaning, Value


def spoken(chance: Chance, value: Value, plural: bool = False, clause: bool = False) -> str:
    """One of the wordings of a fact; of weather, its clause where asked for."""
    forms = value.concept.forms
    form = forms[0] if chance.happens(chance.settings.usual) else chance.choice(forms)
    if value.slot != "weather":
        return form[plural]
    if clause and value.negated:
        return form[1].replace(" is ", " is not ", 1)
    return form[clause]


def noun_phrase(chance: Chance, meaning: Meaning, owner: int) -> str:
    """Determiner, adjectives, noun, then clothes and the relative clause."""
    who = meaning.frame.participants[owner]
    about = {key[1]: value for key, value in meaning.facts.items() if key[0] == owner}
    before: list[str] = []
    after: list[str] = []
    for slot in ("mood", "size", "age"):
        if (value := about.get(slot)) is not None:
            word = spoken(chance, value)
            late = " " in word or value.negated or (slot == "mood" and chance.happens(0.4))
            (after if late else before).append(f"not {word}" if value.negated else word)
    colour = about.get("colour")
    if who.animal and colour is not None:
        fur = spoken(chance, colour)
        (after if colour.negated else before).append(f"not {fur}" if colour.negated else fur)
    noun = _noun(chance, about.get("kind"), who.animal, who.plural, bare=not before)
    words = [*before, noun, *_clothes(chance, meaning, owner, about)]
    if (head := about.get("headgear")) is not None and head.negated:
        after.append(f"not wearing {spoken(chance, head, who.plural)}")
    if after:
        words += ["who" if not who.animal else "that", "are" if who.plural else "is"]
        words.append(" and ".join(after))
    return " ".join(_determined(chance, words, who.plural, about.get("count")))


def _noun(chance: Chance, kind: Value | None, animal: bool, plural: bool, bare: bool) -> str:
    if kind is not None:
        return spoken(chance, kind, plural)
    if animal:
        return "animals" if plural else "animal"
    if plural:
        return "people"
    return "someone" if bare else "person"


def _determined(chance: Chance, words: list[str], plural: bool, count: Value | None) -> list[str]:
    if count is not None:
        return [spoken(chance, count), *words]
    if plural:
        return ["some", *words] if chance.happens(0.6) else words
    if words[0] == "someone":
        return words
    return [_article(words[0], plural) + words[0], *words[1:]]


def _clothes(chance: Chance, meaning: Meaning, owner: int, about: dict[str, Value]) -> list[str]:
    """What is worn: `in a red shirt and a hat`, or less."""
    who = meaning.frame.participants[owner]
    colour, head = about.get("colour"), about.get("headgear")
    worn: list[str] = []
    tail: list[str] = []
    if head is not None and not head.negated:
        word = spoken(chance, head, who.plural)
        (tail if word.endswith("head") else worn).append(word)
    if not who.animal and (colour is not None or owner in meaning.bare):
        garment = GARMENTS[who.garment][who.plural]
        shade = "" if colour is None else spoken(chance, colour)
        if colour is not None and colour.negated:
            verb = "are" if who.plural else "is"
            worn.append(f"{_article(garment, who.plural)}{garment} that {verb} not {shade}")
        else:
            shown = f"{shade} {garment}" if shade else garment
            worn.insert(0, f"{_article(shown, who.plural)}{shown}")
    phrase = [f"{chance.choice(('in', 'wearing'))} {' and '.join(worn)}"] if worn else []
    return phrase + [f"with {word}" for word in tail]


def _article(phrase: str, plural: bool) -> str:
    return "" if plural else "an " if phrase[0] in "aeiou" else "a "
