"""A sample question and a sample text."""

from studies.cloze.question import ClozeQuestion

CANDIDATES = ["hen", "cat", "dog", "fox", "owl", "bee", "ant", "cow", "pig", "rat"]


def question() -> ClozeQuestion:
    sentences = [["The", "hen", "saw", CANDIDATES[n % 10], str(n), "."] for n in range(20)]
    query = ["Then", "the", "XXXXX", "slept", "."]
    return ClozeQuestion(sentences, query, list(CANDIDATES), "fox")


def lines() -> list[str]:
    """Return the lines of the question in the format of CBT, independent of the code."""
    context = [f"{n + 1} The hen saw {CANDIDATES[n % 10]} {n} ." for n in range(20)]
    last = "21 Then the XXXXX slept .\tfox\t\then|cat|dog|fox|owl|bee|ant|cow|pig|rat"
    return [*context, last, ""]


NAMES = [
    *("Anna", "Bertil", "Cecily", "Dagmar", "Edwin", "Fiona"),
    *("Gustav", "Hannah", "Igor", "Judith", "Konrad", "Lena"),
]
NOUNS = [
    *("garden", "bakery", "castle", "meadow", "harbour", "library"),
    *("museum", "orchard", "palace", "quarry", "stable", "tavern"),
]


def story(section: int, sentences: int) -> list[str]:
    """Return sentences with names, and with nouns in noun positions."""
    return [
        f"On day {section} {n} our friend {NAMES[(n * 5 + section) % 12]} saw the "
        f"{NOUNS[(n * 7 + section) % 12]} of {NAMES[(n + section) % 12]} ."
        for n in range(sentences)
    ]


def text(sections: int = 10, sentences: int = 30) -> list[str]:
    """Return sections with titles."""
    lines = []
    for section in range(sections):
        lines += [f"= Story {section} =", "", *story(section, sentences), ""]
    return lines
