from reports.blocks import Table, csv_text


def test_a_table_with_aligned_numbers() -> None:
    assert str(Table(("a", "b", "c"), [["x", "y", "1"]], left=2)) == (
        "| a | b | c |\n| --- | --- | ---: |\n| x | y | 1 |"
    )


def test_csv_keeps_every_digit_and_leaves_missing_empty() -> None:
    assert csv_text(("a", "b"), [["x, y", 0.1 + 0.2], [None, 3]]) == (
        'a,b\n"x, y",0.30000000000000004\n,3\n'
    )
