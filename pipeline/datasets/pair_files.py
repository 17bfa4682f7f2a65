"""Locate and read the files of a split, by the columns and labels of corpus.files."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from actmodels.errors import DataError, shown
from pipeline.datasets.archive import Files, in_archive, named
from pipeline.datasets.download import local_path, locate, matches
from pipeline.datasets.pairs import (
    ANNOTATORS,
    DUPLICATE,
    NO_COLUMN,
    PARSES,
    Pair,
    checked_pair,
    checked_split,
)
from pipeline.datasets.rows import read_rows
from pipeline.datasets.text_lines import NOT_UTF8, Row, RowError, Rows
from pipeline.parameters.labels import UNLABELED, ClassReader, label_name
from pipeline.parameters.schema import COLUMNS, PairFiles

NO_ID = "; a column that is no id is left out by: act-nli use 'corpus.files.columns.id=[]'"
DROP = "; or leave such rows out: act-nli use corpus.files.invalid=drop"
SCORE = re.compile(r"[+-]?\d*[.,]\d+")
MAX_SHOWN = 10  # faults in a message, and rows with each
KEYS = dict(zip(COLUMNS, ("sentence1", "sentence2", "gold_label", "pairID"), strict=True))


def split_files(places: str | list[str], sha256: str | None, key: str) -> Files:
    """Locate the files of a split; a file in an archive has the name of its member."""
    found: list[tuple[str, str]] = []
    for name in [places] if isinstance(places, str) else places:
        place, _, wanted = name.partition("::")
        if "://" not in place and local_path(place).is_dir():
            advice = f"name its files with a glob, such as {place}/*.csv"
            raise DataError(f"{key}: {place} is a folder; {advice}")
        globbed = matches(place)
        if not globbed and "*" in place and "://" not in place and not local_path(place).exists():
            raise DataError(f"{key}: no file matches {place}")
        found += [(match, wanted) for match in globbed or [place]]
    if sha256 and (number := len({place for place, _ in found})) > 1:
        raise DataError(f"{key} has {number} files, and its sha256 is of one; set it to null")
    return [
        file
        for place, wanted in found
        for file in in_archive(locate([place], sha256, key), wanted, key)
    ]


class SplitReader:
    """Reads the files of a split by the configured columns and labels.

    Attributes:
        dropped: number of bad rows by reason.
    """

    def __init__(self, split: str, settings: PairFiles, classes: ClassReader) -> None:
        self.split, self.settings, self.classes = split, settings, classes
        self.dropped = Counter[str]()
        self.where = {name: _cell(value) for name, value in settings.where[split].items()}
        self._unknown = self._labeled = False  # whether a label was
        self._errors: dict[str, list[RowError]] = {}  # bad rows of a file by the first reasons
        self._ids = split  # prefix of the ids of rows without one
        self._columns: dict[tuple[str, ...], dict[str, str]] = {}  # by the columns of a row

    def read(self, files: Files) -> Iterator[Pair]:
        """Yield the pairs of files; one without an id has the split and its line as id.

        Raises:
            DataError: see checked_split; or rows of a file are bad, and not to be dropped.
        """
        source = ", ".join(named(*file) for file in files)
        return checked_split(self._rows(files), self._pair, source, self._bad)

    def _rows(self, files: Files) -> Rows:
        columns = {*PARSES, ANNOTATORS, *chain.from_iterable(self.settings.columns.values())}
        columns |= self.where.keys()
        count = 0
        for index, (path, member) in enumerate(files):
            self._ids = f"{self.split}-{index + 1}" if index else self.split
            start, before = self.dropped.copy(), count
            for row in read_rows(path, columns, member, self.settings.quotes):
                if (chosen := self._chosen(row)) is not None:
                    count += 1
                    yield chosen
            if self.settings.invalid == "stop" and (bad := self.dropped - start):
                problems = [_together(errors, bad) for errors in self._errors.values()]
                if len(bad) > len(problems):
                    problems.append(f"{bad.total():,} bad rows with {len(bad):,} faults")
                drop = bad.total() < count - before and NOT_UTF8 not in bad
                advice = NO_ID * (DUPLICATE in bad) + DROP * drop
                advice += f"\n{self.classes.advice()}" if self._unknown else ""
                raise DataError("\n".join(problems) + advice)
            self._errors.clear()
        source = ", ".join(named(*file) for file in files)
        if not count and self.where:
            problem = f"no row has {self.where}; correct corpus.files.where.{self.split}"
            raise DataError(f"{source}: {problem}")
        if self._unknown and not self._labeled:  # all rows were dropped
            faults = ", ".join([*self.dropped][:MAX_SHOWN])
            raise DataError(f"{source}: {faults}; {self.classes.advice()}")

    def _chosen(self, row: Row | RowError) -> Row | RowError | None:
        """Return a row that corpus.files.where chooses, and malformed ones."""
        if isinstance(row, RowError) or not self.where:
            return row
        if absent := self.where.keys() - row.fields.keys():
            problem = f"no column {', '.join(absent)}; got {', '.join(map(repr, row.fields))[:200]}"
            advice = f"correct corpus.files.where.{self.split}"
            return RowError(row.where, f"{problem}; {advice}", NO_COLUMN)
        same = all(_cell(row.fields[name]) == value for name, value in self.where.items())
        return row if same else None

    def _bad(self, error: RowError) -> None:
        self.dropped[error.reason] += 1
        if error.reason in self._errors or len(self._errors) < MAX_SHOWN:
            self._errors.setdefault(error.reason, []).append(error)

    def _pair(self, row: Row) -> Pair:
        """Convert a row; columns that are not configured are dropped.

        Raises:
            RowError: a column is missing, a label is unknown, or a value is invalid.
        """
        fields, known = row.fields, tuple(row.fields)
        names = self._columns.get(known) or self._columns.setdefault(known, self._names(row))
        texts = (fields[names[key]] for key in ("sentence1", "sentence2"))
        premise, hypothesis = ("" if text is None or text != text else text for text in texts)
        pair_id = fields.get(names["pairID"])
        if isinstance(pair_id, int | float):
            pair_id = label_name(pair_id)
        pair = {
            "gold_label": self._class(row, names["gold_label"], premise, hypothesis),
            "sentence1": premise,
            "sentence2": hypothesis,
            "pairID": f"{self._ids}-{row.number}" if pair_id in (None, "") else pair_id,
            **{key: fields[key] for key in PARSES if fields.get(key) is not None},
        }
        if type(labels := fields.get(ANNOTATORS)) is list and {*map(type, labels)} == {str}:
            pair[ANNOTATORS] = labels
        return checked_pair(row._replace(fields=pair), names)

    def _names(self, row: Row) -> dict[str, str]:
        """Return the names of the columns of a row by the keys of a pair."""
        names = dict.fromkeys(KEYS.values(), "")
        for part, options in self.settings.columns.items():
            if part == "id":  # another column may be named Id
                names[KEYS[part]] = next((name for name in options if name in row.fields), "")
            elif (name := row.column(options)) is not None:
                names[KEYS[part]] = name
            else:
                problem = f"no column {' or '.join(options)}; {_advice(row, part, options)}"
                raise RowError(row.where, problem, NO_COLUMN)
        same = [*names.values()][:3]
        if len({*same}) < 3:
            problem = f"premise, hypothesis and label are the columns {', '.join(same)}"
            raise DataError(f"{row.where}: {problem}; name one for each in corpus.files.columns")
        return names

    def _class(self, row: Row, name: str, premise: Any, hypothesis: Any) -> str:
        value = row.fields[name]
        if isinstance(value, list | dict):
            problem = f"{name} is a {type(value).__name__}"
            raise RowError(row.where, f"{problem}; expected text or a number", problem)
        known = self.classes.read(value, self.split, row.where, (premise, hypothesis))
        if known is None:
            self._unknown = True
            if SCORE.fullmatch(label_name(value)):
                problem = f"the label {shown(value)} is a score; expected one of a few classes"
                advice = "name another column in corpus.files.columns.label"
                raise DataError(f"{row.where}: {problem}; {advice}")
            problem = f"{name} is {shown(value)}"
            expected = f"expected one of {', '.join(self.classes.classes)}"
            raise RowError(row.where, f"{problem}; {expected}", problem)
        self._labeled = self._labeled or known != UNLABELED
        return known


def _cell(value: Any) -> str:
    """Return a cell as text to compare; True of a table is true of JSON."""
    text = label_name(value)
    return text.lower() if text.lower() in ("true", "false") else text


def _advice(row: Row, part: str, options: list[str]) -> str:
    """Return what a row has in place of a column, and what to do."""
    for name, value in row.fields.items():
        if isinstance(value, dict) and any(option in value for option in options):
            return f"it is in {name!r}; move the fields of {name!r} to the top of the object"
    got = ", ".join(map(repr, row.fields))[:200]
    advice = f"name the column of the {part} in corpus.files.columns.{part}, or put the "
    return f"got {got}; {advice}names of the columns above the first line if it is a pair"


def _together(errors: list[RowError], numbers: Mapping[str, int]) -> str:
    """Return the first error with a reason, and the places of the next ones."""
    first, number = errors[0], numbers[errors[0].reason]
    if number == 1:
        return str(first)
    places = [error.where.rpartition(", ")[2] for error in errors[:MAX_SHOWN]]
    return f"{first} ({number:,} such rows: {', '.join(places)}{', …' * (number > MAX_SHOWN)})"
