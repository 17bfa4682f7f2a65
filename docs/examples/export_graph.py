"""Export a trained model as a graph that runs without this code: NAME.pt2 in the current folder.

A graph cannot test whether all examples have halted, so it takes every step up to the cap. Steps
after halting have weight zero, and answers agree within 1e-6.
"""

import sys
from pathlib import Path

import torch
from torch import Tensor
from torch.export import Dim, export, save

import pipeline
from actmodels.data.pairs import Batch
from actmodels.models.alternating import AlternatingAttention
from actmodels.models.pair_model import PairModel
from pipeline.inference.bundle import read_bundle


class OnTensors(torch.nn.Module):
    """A model whose input is tensors, and whose output is logits."""

    def __init__(self, model: PairModel) -> None:
        super().__init__()
        self.model = model.requires_grad_(False)
        self.how = {"loop": "cap"} if isinstance(model, AlternatingAttention) else {}

    def forward(
        self, premise: Tensor, premise_mask: Tensor, hypothesis: Tensor, hypothesis_mask: Tensor
    ) -> Tensor:
        """Return the logits [batch, classes] of token ids and masks [batch, tokens]."""
        batch = Batch(premise, premise_mask, hypothesis, hypothesis_mask, None, None)
        return self.model(batch, **self.how).logits


def main(name: str, root: Path) -> None:
    """Write the graph, for any number of pairs and of tokens."""
    model = read_bundle(root / "artifacts/export/models" / name).model
    ids, more_ids = torch.ones(2, 5, dtype=torch.long), torch.ones(2, 6, dtype=torch.long)
    example = (ids, ids > 0, more_ids, more_ids > 0)
    sizes = ({0: Dim.DYNAMIC, 1: Dim.DYNAMIC},) * 4
    save(export(OnTensors(model), example, dynamic_shapes=sizes), f"{name}.pt2")


if __name__ == "__main__":
    main(sys.argv[1], Path(pipeline.__file__).parents[1])
