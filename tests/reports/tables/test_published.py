import re

from reports.tables.published import PAPER_BY_STEPS, ROWS, TABLE_1, published_accuracy


def test_the_ablation_is_that_of_table_1() -> None:
    own = {row.system: row.accuracy for row in ROWS if row.source == TABLE_1}
    found = {
        int(steps[1]) if (steps := re.search(r", (\d) steps", system)) else None: accuracy
        for system, accuracy in own.items()
        if system.startswith("Adaptive Attention")
    }
    assert found == PAPER_BY_STEPS


def test_table_1_is_whole() -> None:
    assert sum(TABLE_1 in row.source for row in ROWS) == 12


def test_every_row_is_cited() -> None:
    assert all(re.search(r"20\d\d|github|thesis|arXiv", row.source) for row in ROWS)
    assert all(60 < row.accuracy < 100 for row in ROWS)


def test_the_two_figures_for_decomposable_attention() -> None:
    own = published_accuracy("200D Decomposable Attention, the paper's own")
    assert (published_accuracy("200D Decomposable Attention"), own) == (86.3, 83.8)
