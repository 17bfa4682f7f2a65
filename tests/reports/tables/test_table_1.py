from reports.blocks import DASH
from reports.published import ROWS
from reports.stored.artefacts import Artefacts
from reports.tables.table_1 import HEADER, table_1, table_1_csv, table_1_note


def cells(line: str) -> list[str]:
    return [cell.strip(" *") for cell in line.strip("|").split("|")]


def test_ours_come_last_with_hand_computed_means(artefacts: Artefacts) -> None:
    first, second = (
        dict(zip(HEADER, cells(line), strict=True))
        for line in str(table_1(artefacts, published=True)).splitlines()[-2:]
    )
    # test 0.80, 0.81, 0.82: mean 0.81, sd 0.01; dev 0.81, 0.82, 0.83
    assert first["system"] == "Decomposable Attention"
    assert first["test accuracy, %"] == "81.0 ± 1.00"
    assert first["dev accuracy, %"] == "82.0 ± 1.00"
    assert (first["parameters"], first["seeds"], first["mean steps"]) == ("3,003", "3", DASH)
    # test 0.83, 0.80, 0.83: mean 0.82, sd sqrt((1 + 4 + 1) / 2) = 1.73 points; steps 4, 5, 4.5
    assert second["test accuracy, %"] == "82.0 ± 1.73"
    assert second["mean steps"] == "4.50 ± 0.50"
    assert second["corpus"] == "generated captions, 800 pairs"


def test_the_lexicalised_classifier_stands_before_the_other_models(artefacts: Artefacts) -> None:
    line = str(table_1(artefacts, published=True)).splitlines()[-3]
    assert cells(line) == [
        *("Lexicalised Classifier", "generated captions, 800 pairs", "this project", "1,203"),
        *("73.0", "74.0", "1", DASH),
    ]
    # sqrt(0.73 * 0.27 / 100)
    assert "nothing at random (sampling error 4.44 points)." in table_1_note(artefacts, True)


def test_published_rows_come_first_and_are_cited(artefacts: Artefacts) -> None:
    lines = str(table_1(artefacts, published=True)).splitlines()[2:-3]
    assert len(lines) == len(ROWS)
    for line, row in zip(lines, ROWS, strict=True):
        shown = dict(zip(HEADER, cells(line), strict=True))
        assert (shown["corpus"], shown["source"]) == ("SNLI", row.source)
        assert float(shown["test accuracy, %"]) == row.accuracy


def test_published_rows_can_be_left_out(artefacts: Artefacts) -> None:
    assert len(str(table_1(artefacts, published=False)).splitlines()) == 2 + 3
    assert "ublished" not in table_1_note(artefacts, published=False)
    assert len(table_1_csv(artefacts, published=False).splitlines()) == 1 + 3


def test_the_note_states_the_sampling_error_once(artefacts: Artefacts) -> None:
    note = table_1_note(artefacts, published=True)
    # sqrt(0.81 * 0.19 / 100) and sqrt(0.82 * 0.18 / 100)
    assert "3.92 points for Decomposable Attention and 3.84 points for Adaptive" in note
    assert note.count("sampling standard error") == 1
    assert "not comparable with ours" in note
