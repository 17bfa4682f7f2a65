from dataclasses import replace

from reports.findings import best_on_dev, featured, featured_halting, halting_models
from reports.stored.artefacts import Artefacts

DA, AA = "decomposable_attention", "adaptive_attention"


def test_few_models_are_all_named(artefacts: Artefacts) -> None:
    assert featured(artefacts) == (DA, AA)


def test_of_many_the_papers_two_and_the_best_on_dev(many: Artefacts) -> None:
    assert best_on_dev(many) == "adaptive_attention_ponder_net"
    assert featured(many) == (DA, AA, "adaptive_attention_ponder_net")


def test_the_best_may_be_one_of_the_papers(many: Artefacts) -> None:
    level = replace(many, results=many.results.assign(dev_accuracy=0.8))
    assert best_on_dev(level) == DA
    assert featured(level) == (DA, AA)


def test_models_of_fixed_steps_choose_none(many: Artefacts) -> None:
    assert halting_models(many) == [AA, "adaptive_attention_ponder_net"]
    last = replace(many, results=many.results.assign(dev_accuracy=0.8))
    assert featured_halting(last) == [AA]
