import pytest

from actmodels.bench.timing import Timed, interleaved, rates, ratios, summary, timed


def test_variants_take_turns_and_the_first_round_is_thrown_away() -> None:
    order: list[str] = []

    def variant(name: str) -> Timed:
        order.append(name)
        return Timed(len(order), 1.0, 1.0)

    names = ("a", "b", "c")
    runs = interleaved({name: lambda name=name: variant(name) for name in names}, repeats=2)
    assert order == ["a", "b", "c"] * 3
    assert {name: [run.count for run in taken] for name, taken in runs.items()} == {
        "a": [4, 7],
        "b": [5, 8],
        "c": [6, 9],
    }


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
    assert ratios(ours, plain)["per_second"] == {"median": 2.0, "min": 2.0, "max": 2.0, "n": 2}
    assert ratios(ours, plain)["per_cpu_second"]["median"] == pytest.approx(3.0)


def test_the_device_settles_before_each_look_at_the_clock() -> None:
    said: list[str] = []

    def work() -> float:
        said.append("work")
        return 7

    run = timed(work, lambda: said.append("settled"))
    assert said == ["settled", "work", "settled"]
    assert run.count == 7 and run.wall > 0
