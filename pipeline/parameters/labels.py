"""Labels of files as the classes of a corpus (corpus.classes, corpus.files.labels).

No pydantic: `predict` starts without it.
"""

import json
import re
import shlex
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from actmodels.errors import DataError, shown

UNLABELED = "-"
NLI = ("neutral", "entailment", "contradiction")  # the classes of SNLI and of generated pairs
# in lower case, where no class has the name and no setting gives a meaning
NO_LABEL = ("", "nan", "null", "none", "na", "n/a", "<na>")
# names of the columns and keys in the output of `predict`
OUTPUT = ("model", "predicted", "steps", "unknown_words", "reliable", "refusal", "attention")

# names of classes are columns of the output, too
RESERVED = "|".join((UNLABELED, "line", *OUTPUT))
CLASS_NAME = (
    rf"(?!(?:{RESERVED})$)(?![\s\S]*\${{)"
    r"[^\s\x00-\x1f](?:[^\x00-\x1f]{0,98}[^\s\x00-\x1f])?"
)
MOST = 20  # classes of a corpus
KEPT = 1000  # labels whose first pairs are remembered: a column of other text has many
NUMBER = re.compile(r"-?\d+")


def label_name(value: object) -> str:
    """Return a label of a file as text: 0.0 as 0, null and NaN as none."""
    if value is None or value != value:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    text = unicodedata.normalize("NFC", str(value)).strip()
    return re.sub(r"^(-?\d+)\.0+$", r"\1", text)


def classes_by_label(labels: Mapping[str, str], classes: Sequence[str]) -> dict[str, str]:
    """Return the class, or UNLABELED, of each label, also of the label in lower case.

    A class's own name needs no entry of `labels`. Entries of other classes do not apply.
    """
    applied = {label: name for label, name in labels.items() if name in (*classes, UNLABELED)}
    own = {name: name for name in classes if applied.get(name, UNLABELED) == UNLABELED}
    known = {label_name(label): name for label, name in (applied | own).items()}
    return {label.lower(): name for label, name in known.items()} | known


def class_of(label: str, known: Mapping[str, str]) -> str | None:
    """Return the class of a label: UNLABELED if it is null, NaN or empty, None if unknown."""
    lower = label.lower()
    return known.get(label) or known.get(lower, UNLABELED if lower in NO_LABEL else None)


def use_command(values: Mapping[str, Any]) -> str:
    """Return the command that sets keys of params.yaml, to be pasted into a shell."""
    words = (f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in values.items())
    return shlex.join(["act-nli", "use", *words])


class ClassName(str):
    """The name of a class in the schema of a file, which has its number in the rows."""

    __slots__ = ("number",)
    number: str


class Seen(NamedTuple):
    """A label of the files: its class, None if unknown, and its first pair."""

    meaning: str | None
    example: str


class ClassReader:
    """Maps labels to classes, and remembers the labels of all splits.

    Attributes:
        classes: of the corpus.
        seen: what is known of each label, in the order of the files.
    """

    def __init__(self, classes: Sequence[str], labels: Mapping[str, str]) -> None:
        self.classes = classes
        self._known = classes_by_label(labels, classes)
        self.seen: dict[str, Seen] = {}
        self._numbers: dict[str, tuple[str, str]] = {}  # number: class and split

    def read(self, value: Any, split: str, where: str, sentences: Sequence[Any]) -> str | None:
        """Return the class of a label, UNLABELED without one, or None for an unknown label.

        Raises:
            DataError: two splits disagree about a number.
        """
        label = label_name(value)
        named = isinstance(value, ClassName)  # such as none, which is no label elsewhere
        meaning = self._known.get(label) if named else class_of(label, self._known)
        number = value.number if named else label
        if meaning is not None and NUMBER.fullmatch(number):
            before, of = self._numbers.setdefault(number, (meaning, split))
            if before != meaning:
                problem = f"class {number} is {meaning} here, and {before} in {of}"
                way = self._named(number, meaning if named else None)
                names = f"by the names in the schema of one; if these are right: {way}"
                raise DataError(f"{where}: {problem}, {names}")
        if label not in self.seen and len(self.seen) < KEPT:
            example = f"{split}: {shown(sentences[0])} / {shown(sentences[1])}"
            self.seen[label] = Seen(meaning, example)
        return meaning

    @property
    def notes(self) -> list[str]:
        """One line for each label that is not the name of its class."""
        return [
            f"label {label} is {'no label' if meaning == UNLABELED else meaning}, as in {example}"
            for label, (meaning, example) in self.seen.items()
            if meaning is not None and label.lower() not in (meaning.lower(), "")
        ]

    def _named(self, number: str, meaning: str | None) -> str:
        """Return the command that gives numbers the classes that a schema names."""
        named = {number: meaning} if meaning else {n: of for n, (of, _) in self._numbers.items()}
        changed = {n: of for n, of in named.items() if of != self._known.get(n)}
        return _labels(changed) if changed else "correct the other file, as both name their numbers"

    def question(self) -> str:
        """Return a question if numbers are labels, and a class that has a number has no pair.

        Two numbers may be those of two classes, such as no and yes, and not of SNLI's.
        """
        numbers = {n: of for n, of in self._known.items() if NUMBER.fullmatch(n) and n != of}
        used = {numbers[label] for label in self.seen if label in numbers} - {UNLABELED}
        absent = {n: of for n, of in numbers.items() if of not in (*used, UNLABELED)}
        own = [label for label in self.seen if NUMBER.fullmatch(label)]
        if not used or not absent or len(own) < 2:
            return ""
        missing = " or ".join(f"{number} ({of})" for number, of in absent.items())
        right = _labels(dict.fromkeys(absent, UNLABELED))
        way = f"{_are_classes(own)}; if the numbers are right: {right}"
        return f"no label is the number {missing}; {way}"

    def advice(self) -> str:
        """Return the commands for labels that are not known, or that leave a class without pairs.

        The labels may be the classes; or some may be other names of classes.
        """
        own = {name.lower(): name for name in self.classes}
        seen = {label.lower(): label for label in reversed(self.seen)}
        keys = [key for key in reversed(seen) if key not in ("", "nan", "null", UNLABELED)]
        named = [key for key in keys if key not in NO_LABEL or not self.seen[seen[key]].meaning]
        if not 2 <= len(keys) <= MOST or not all(re.fullmatch(CLASS_NAME, key) for key in keys):
            names = f"expected 2 to {MOST} names for corpus.classes"
            limits = "a name has at most 100 characters, and - and null are no labels"
            return f"{names}, or corpus.files.labels for others; {limits}"
        listed = [named, keys] if 1 < len(named) < len(keys) else [keys]
        ways = [_are_classes([own.get(key, seen[key]) for key in each]) for each in listed]
        unknown = [seen[key] for key in keys if not self.seen[seen[key]].meaning]
        words = (label for label in unknown if re.fullmatch(r"[A-Za-z_]\w*", label, re.ASCII))
        if label := next(words, None):
            example = _labels({label: self.classes[0]})
            ways.append(f"if they are other names of classes, name the class of each: {example}")
        return "; ".join(ways)


def _are_classes(names: Sequence[str]) -> str:
    return f"if {', '.join(map(repr, names))} are the classes: {classes_command(names)}"


def _labels(meanings: Mapping[str, str]) -> str:
    return use_command({f"corpus.files.labels.{label}": of for label, of in meanings.items()})


def classes_command(names: Sequence[str]) -> str:
    """Return the command that sets the classes."""
    return use_command({"corpus.classes": names})
