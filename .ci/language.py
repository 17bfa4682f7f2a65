"""Reject archaic phrases and British spellings in code, docs and settings: `make lint`."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("actmodels", "bench", "docs", "pipeline", "reports", "studies", "tests", "tune")
FILES = (
    *(f"{name}/**/*.py" for name in PACKAGES),
    "*.md",
    "docs/**/*.md",
    "*.yaml",
    "conf/**/*.yaml",
)
EXEMPT = {"CHANGELOG.md"}  # history
STEMS = (
    "author|categor|character|emphas|final|general|initial|material|maxim|memor|minim|normal|optim"
    "|organ|parallel|penal|prior|random|recogn|regular|serial|special|standard|summar|token|util"
    "|vector|visual"
)
WORDS = {  # regular expression of a word: what to write; \1 and \2 are its groups
    "anew": "again",
    "foretold": "extrapolated, predicted",
    "thereof": "of it",
    "of which": "a second sentence, or whose",
    "who(?:m|so)?ever": "the user, the caller",
    "whichever": "the one that",
    "told apart": "distinguished",
    "such as are": "those that are",
    "(?:and|or) the like": "etc., or name the things",
    "(?:ways|kinds) of halting": "halting mechanisms",
    "(?:is|are|was|were) (?:said|told)": "a noun, or 'reports'",
    "artefact(s?)": r"artifact\1",
    r"(\w*(?:behavi|col|fav|hon|neighb))our(\w*)": r"\1or\2",
    rf"(\w*?(?:{STEMS}))(?:is)((?:e[drs]?|ers|ing|ations?)\b)": r"\1iz\2",
    r"(\w*)analyse([ds]?)": r"\1analyze\2",
    r"(un)?(label|model|signal|travel)l(ed|ing)": r"\1\2\3",
    r"(kilo|milli)?(cent|met)re(s?)": r"\1\2er\3",
    "catalogue(s?)": r"catalog\1",
    "judgement(s?)": r"judgment\1",
    "licence(s?)": r"license\1",
    "defence": "defense",
    "fulfil": "fulfill",
    "whilst": "while",
    "amongst": "among",
}


def main() -> None:
    """Exit with the findings, one `file:line: "word": write "word"` per line."""
    rules = {re.compile(rf"\b{word}\b", re.IGNORECASE): new for word, new in WORDS.items()}
    names = {path.relative_to(ROOT).as_posix() for pattern in FILES for path in ROOT.glob(pattern)}
    findings = []
    for name in sorted(names - EXEMPT):
        for number, line in enumerate((ROOT / name).read_text("utf-8").splitlines(), start=1):
            for rule, new in rules.items():
                findings += [
                    f'{name}:{number}: "{match[0]}": write "{match.expand(new)}"'
                    for match in rule.finditer(line)
                ]
    sys.exit("\n".join(findings) or None)


if __name__ == "__main__":
    main()
