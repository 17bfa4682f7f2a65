import pytest

from bench.tables import bench_report, cell
from bench.timing import Timed, interleaved, rates, ratios, summary

DASH = "\N{EN DASH}"


def test_variants_take_turns_and_the_first_round_is_thrown_away() -> None:
    order: list[str] = []

    def variant(name: str) -> int:
        order.append(name)
        return len(order)

    names = ("a", "b", "c")
    runs = interleaved({name: lambda name=name: variant(name) for name in names}, repeats=2)
    assert order == ["a", "b", "c"] * 3
    assert runs == {"a": [4, 7], "b": [5, 8], "c": [6, 9]}


def test_a_summary_names_the_middle_the_ends_and_the_number() -> None:
    assert summary([5.0, 1.0, 2.0]) == {"median": 2.0, "min": 1.0, "max": 5.0, "n": 3}
    assert summary([4.0, 1.0])["median"] == 2.5


def test_rates_are_by_the_clock_and_by_the_processor() -> None:
    found = rates([Timed(12, wall=4.0, cpu=2.0), Timed(12, wall=3.0, cpu=2.0)])
    assert found["per_second"] == {"median": 3.5, "min": 3.0, "max": 4.0, "n": 2}
    assert found["per_cpu_second"]["median"] == 6.0


def test_ratios_pair_the_runs_of_a_round() -> None:
    # a disturbed second round slows both variants down and leaves their ratio
    ours = [Timed(10, 1.0, 1.0), Timed(10, 10.0, 1.0)]
    plain = [Timed(10, 2.0, 3.0), Timed(10, 20.0, 3.0)]
    found = ratios(ours, plain)
    assert found["times_as_fast"] == {"median": 2.0, "min": 2.0, "max": 2.0, "n": 2}
    assert found["times_by_cpu"]["median"] == pytest.approx(3.0)


@pytest.mark.parametrize(
    ("value", "worded"),
    [
        *[(0.01234, "0.0123"), (0.5, "0.5"), (1.384, "1.38"), (12.34, "12.3"), (1234.6, "1,235")],
        *[(486, "486"), (None, DASH), (0.0, "0"), (False, "False"), ("plain", "plain")],
        ({"median": 193.26, "min": 180.04, "max": 247.9, "n": 5}, f"193 (180{DASH}248, n = 5)"),
        ({"median": 2.0, "min": 2.0, "max": 2.0, "n": 1}, "2.00"),
    ],
)
def test_a_cell_has_three_digits_and_its_spread(value: object, worded: str) -> None:
    assert cell(value) == worded


def test_a_part_is_its_tables_and_what_else_it_says() -> None:
    rows = [{"batch_size": 8, "per_second": 1.384}, {"batch_size": 16, "per_second": None}]
    parts = {"gpu": {"what": "On a GPU.", "note": "none", "rows": rows, "others": []}}
    document = {"machine": {"cores": 4, "gpu": None}, "sentences": "drawn", "quick": True}
    text = bench_report({**document, "parts": parts})
    assert f"\n\ncores: 4; gpu: {DASH}; sentences: drawn\n\n" in text
    assert "**A quick run at tiny sizes: no figure counts.**" in text
    assert "## gpu\n\nOn a GPU.\n\n| batch size | per second |\n" in text
    assert f"| 8 | 1.38 |\n| 16 | {DASH} |\n\nnote: none\n" in text
