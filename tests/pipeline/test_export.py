"""Export the best seeds, and write the same bytes in a second run."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from actmodels.errors import ArtifactError
from actmodels.records import EpochRecord, TrialRecord
from pipeline import export
from pipeline.inference import registry
from pipeline.inference.bundle import read_bundle
from pipeline.inference.predictor import Predictor
from pipeline.parameters.load import load_params
from tests.pipeline.tiny_export import PAIRS, retrained, tiny_trials
from tune.tracking.exported_model import ExportedModel


def record(model: str, seed: int, *accuracies: float) -> TrialRecord:
    history = tuple(
        EpochRecord(number, 1.0, 0.5, None, None, None, 1.0, accuracy, None, None, None)
        for number, accuracy in enumerate(accuracies, start=1)
    )
    return TrialRecord(f"{model}-{seed}", {"model": model, "seed": seed}, 1, history, {})


def test_the_first_seed_with_the_highest_dev_accuracy_is_exported() -> None:
    seeds = [
        ("a", 1, 0.5, 0.6, 0.55),
        ("b", 1, 0.9),
        ("a", 2, 0.7, 0.5),
        ("a", 3, 0.7),
        ("b", 2, 0.1),
    ]
    records = [record(*seed) for seed in seeds]
    chosen, _ = export.best_seeds(records)
    assert {model: best.key for model, best in chosen.items()} == {"a": "a-2", "b": "b-1"}


def test_bundle_and_model_card(folder: Path) -> None:
    chosen, _ = export.best_seeds(retrained(folder, *tiny_trials()))
    entries = export.write_models(folder / "models", chosen, load_params())
    assert list(entries) == ["adaptive_attention", "decomposable_attention"]
    for name, stored in entries.items():
        bundle = read_bundle(folder / "models" / name)
        assert bundle.digest == stored["digest"]
        assert bundle.config.seed == chosen[name].config["seed"] == stored["seed"]
        assert stored["dev_accuracy"] == chosen[name].best.dev_accuracy
        predictor = Predictor(bundle)
        assert len(predictor.predict([predictor.tokenize(*pair) for pair in PAIRS])) == len(PAIRS)
        card = (folder / "models" / name / "README.md").read_text()
        assert f"# {name}, seed {stored['seed']}\n" in card
        assert f"Dev accuracy {stored['dev_accuracy']:.1%} (n = 24 pairs)" in card
        assert f"Test accuracy {stored['seed'] / 10:.1%} (n = 12 pairs)" in card
        assert "25.0% on average over 2 seeds (standard deviation 1.23 points)" in card
        assert "Trained on 48 pairs (`corpus.source: captions`), with word vectors" in card
        _, front, _ = card.split("---\n")
        facts = YAML(typ="safe", pure=True).load(front)
        assert (facts["license"], facts["pipeline_tag"]) == ("mit", "text-classification")
        ((result,),) = (index["results"] for index in facts["model-index"])
        assert result["task"]["name"] == "Sentence pair classification"
        assert result["dataset"] == {"type": "captions", "name": "captions", "split": "test"}
        assert result["metrics"] == [{"type": "accuracy", "value": stored["seed"] / 10}]
    Path("artifacts/evaluate/results.csv").unlink()
    with pytest.raises(ArtifactError, match=r"results\.csv is missing; run: dvc repro evaluate"):
        export.write_models(folder / "models", chosen, load_params())


def test_a_second_run_changes_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    retrained(folder, *tiny_trials())
    calls: list[list[ExportedModel]] = []

    def register(*arguments: Any) -> dict[str, str]:
        calls.append([replace(candidate, code=()) for candidate in arguments[2]])
        return {f"models:/textual-entailment@{arguments[3]}": "7"}

    def run() -> tuple[dict[str, bytes], str]:
        export.main()
        files = [path for path in Path("artifacts/export").rglob("*") if path.is_file()]
        contents = {path.as_posix(): path.read_bytes() for path in sorted(files)}
        return contents, capsys.readouterr().out

    monkeypatch.setattr(registry, "register", register)
    first, second = run(), run()
    assert first == second and calls[0] == calls[1]
    best = json.loads(first[0]["artifacts/export/best.json"])
    means = {name: model["dev_accuracy_mean"] for name, model in best["models"].items()}
    assert means == export.best_seeds(export.retrained())[1]
    assert means[best["best"]] == max(means.values())
    assert f"models:/textual-entailment@{best['best']} is version 7\n" == first[1]
    for candidate, (model, stored) in zip(calls[0], best["models"].items(), strict=True):
        assert candidate.alias == candidate.tags["model"] == model
        assert candidate.tags["trial_key"] == stored["key"]
        assert candidate.tags["data_digest"] == "d1d2d3"
        assert candidate.description.startswith(f"# {model}, seed ")
