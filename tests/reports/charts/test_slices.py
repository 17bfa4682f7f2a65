from reports.charts.trials import slices
from reports.stored.artefacts import Artefacts
from tests.reports.charts.reading import marks, pick, rows

DA, AA = "decomposable_attention", "adaptive_attention"


def test_slices_have_a_line_per_value_under_its_setting(artefacts: Artefacts) -> None:
    figure = slices(artefacts, AA)
    lines = next(e["y"]["scale"]["domain"] for _, e in marks(figure.spec))
    assert lines == [
        *("dropout", "dropout = 0.1", "dropout = 0.2"),
        *("ponder_weight", "ponder_weight = 0.001", "ponder_weight = 0.00005"),
    ]
    # dropout 0.1: 83 and 81; mean 82, sd sqrt(2)
    mean = pick(rows(figure, "low"), line="dropout = 0.1")
    assert (mean["y"], mean["low"], mean["high"]) == (82.0, 80.586, 83.414)
    assert (mean["shown"], mean["n"]) == ("82.0 ± 1.41 %", "2")
    trial = pick(rows(figure, "key"), key="aa08")
    assert (trial["y"], trial["shown"]) == (80.0, "80.0 %")
    assert (trial["dropout"], trial["ponder_weight"]) == ("0.2", "0.00005")


def test_words_of_the_slices(artefacts: Artefacts) -> None:
    assert slices(artefacts, DA).alternative == (
        "Dev accuracy of 4 trials of Decomposable Attention by each value of each setting that its "
        "grid varies, mean ± sd: dropout, 81.0 ± 1.41 % at 0.1 and 80.0 ± 1.41 % at 0.2; "
        "learning_rate, 81.5 ± 0.71 % at 0.001 and 79.5 ± 0.71 % at 0.0005."
    )
