"""The torch.export example in docs/reports.md, for any number and length of pairs."""

import re
from pathlib import Path

import pytest
import torch

from actmodels.training import Training
from tests.pipeline.tiny_export import ROOT, write_tiny
from tests.samples import collate, sample_data, sample_pairs, sample_trial

PAGE = (ROOT / "docs" / "reports.md").read_text(encoding="utf-8")


@pytest.mark.slow(minutes=0.2)
@pytest.mark.parametrize("name", ["decomposable_attention", "adaptive_attention"])
def test_the_graph_matches_the_model(name: str, folder: Path) -> None:
    training = Training(sample_trial(name, max_epochs=2), sample_data())
    assert list(training.epochs())
    model = write_tiny(folder / "artifacts/export/models" / name, training.config, training.model)
    (script,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(script.replace("decomposable_attention", name), {})
    graph = torch.export.load(f"{name}.pt2").module()
    for pairs, longest in ((1, 1), (2, 30), (17, 9)):
        batch = collate(sample_pairs(pairs, 5, longest), torch.arange(pairs), null_token=False)
        with torch.no_grad():
            expected = model.eval()(batch)
        torch.testing.assert_close(graph(*batch[:4]), expected.logits, atol=1e-6, rtol=0)
    assert expected.steps is None or expected.steps.max() < 6  # the cap
