"""Study `fidelity`: its runs."""

from studies.fidelity.stage import plan
from tests.pipeline.trials.test_study import DA, params


def test_a_deviation_trains_the_published_variant(winners: None) -> None:
    variants = {"corrected": {}, "scrambled": {"scrambled_alignment": True}}
    whole = params(fidelity={"seeds": [1, 2]})
    runs = plan(whole, whole.fidelity.model_copy(update={"models": {DA: variants}}))
    assert [(run.labels["variant"], run.config.seed, run.config.model) for run in runs] == [
        *(("corrected", 1, DA), ("corrected", 2, DA)),
        *(("scrambled", 1, f"{DA}_as_published"), ("scrambled", 2, f"{DA}_as_published")),
    ]
    flat = runs[2].config.flat()
    assert (flat["scrambled_alignment"], flat["no_mask"], flat["dropout"]) == (True, False, 0.3)
    assert runs[2].labels["changes"] == "scrambled_alignment: True"
