"""Small trials and random data for tests."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from actmodels import registry
from actmodels.data.pairs import FIRST_WORD, Batch, PairTensors, collate
from actmodels.data.trial_data import TrialData, WordVectors
from actmodels.registry import HALTINGS, model_with
from actmodels.trial_config import BaseTrialConfig, TrialConfig, build_trial, setting_types

if TYPE_CHECKING:
    from tune.trials.grid import Trial

WORDS, DIMENSIONS = 40, 12
MODELS = ("decomposable_attention", "adaptive_attention")  # those of the demo
# Every network with ACT or without halting. Every halting mechanism with two networks: the steps of
# Adaptive Attention are of active examples only.
NETWORKS = [name for name, m in registry.MODELS.items() if m.halting in (None, HALTINGS["act"])]
TWO = ("adaptive_attention", "hop_attention")
VARIANTS = list(dict.fromkeys([*NETWORKS, *(model_with(n, h) for n in TWO for h in HALTINGS)]))

CLASSES = ["neutral", "entailment", "contradiction"]  # in the order of the logits
SWITCHES = (
    *("shared_encoder", "scrambled_alignment", "no_mask", "file_order_batches"),
    *("dropped_last_batches", "compounding_dropout", "batch_remainder", "no_ponder_cost"),
    *("unit_norm", "null_token"),
)
SETTINGS: dict[str, Any] = {
    **dict.fromkeys(SWITCHES, False),
    # networks
    **{"width": 8, "state_size": 9, "gate_size": 7, "encoder_size": 6, "layer_size": 12},
    **{"heads": 1, "layers": 2},
    **{"tracking_size": 5, "reverted": "none", "dropout": 0.1, "init": "xavier", "init_std": 0.01},
    # halting
    **{"epsilon": 0.01, "ponder_weight": 0.01, "max_steps": 6, "halting_bias": -1.0, "steps": 3},
    **{"lookahead": 0, "prior_steps": 3.0, "warm_up_epochs": 2, "step_loss_weight": 0.5},
    **{"target_steps": 3.0, "adaptation_rate": 0.001, "damping": 0.01, "recent_share": 0.1},
    **{"hidden_size": 4, "min_confidence": 0.5, "unchanged_steps": 2, "threshold": 0.3},
    **{"mean_steps": 3.0, "min_change": 0.3, "min_correctness": 0.3, "unit_weight": 0.5},
    # training and words
    **{"optimizer": "adam", "learning_rate": 0.01, "final_rate": 1.0, "adagrad_accumulator": 0.1},
    **{"clip_norm": 5.0, "batch_size": 8, "evaluation_batch_size": 8, "train_pairs": 0},
    **{"oov_rule": "own", "oov_buckets": 5, "oov_std": 0.01, "mean_norm": 0.0},
}


def sample_trial(
    model: str, *, max_epochs: int = 3, patience: int = 0, seed: int = 1, **settings: Any
) -> TrialConfig:
    """A tiny trial; keyword arguments override settings."""
    merged = {name: SETTINGS[name] for name in setting_types(model) if name in SETTINGS} | settings
    return build_trial(model, merged, max_epochs=max_epochs, patience=patience, seed=seed)


def keyed(configs: Iterable[BaseTrialConfig], digest: str = "d", **settings: Any) -> "list[Trial]":
    """The trials of configurations on one CPU; keyword arguments override that."""
    from tune.trials.execution import Execution  # here: the source distribution has no tune
    from tune.trials.grid import with_keys

    rules = {name: settings.pop(name, None) for name in ("early_stopping", "searches")}
    execution = Execution(Path(), Path(), Path(), **settings)
    return with_keys(configs, digest, execution, **rules)


def sample_pairs(
    count: int, seed: int = 0, longest: int = 7, classes: Sequence[str] = CLASSES
) -> PairTensors:
    """Random sentences of 1 to `longest` tokens, and trees; the first words determine the label."""
    generator = torch.Generator().manual_seed(seed)

    def sentences() -> tuple[Tensor, Tensor]:
        lengths = torch.randint(1, longest + 1, (count,), generator=generator)
        offsets = torch.cat([torch.zeros(1, dtype=torch.int64), lengths.cumsum(0)])
        high = FIRST_WORD + WORDS
        ids = torch.randint(FIRST_WORD, high, (int(offsets[-1]),), generator=generator)
        return ids.int(), offsets

    premise, hypothesis = sentences(), sentences()
    labels = (premise[0][premise[1][:-1]] + hypothesis[0][hypothesis[1][:-1]]).long()
    draws = Random(seed)
    trees = [
        torch.tensor([n for length in offsets.diff().tolist() for n in random_tree(length, draws)])
        for _, offsets in (premise, hypothesis)
    ]
    labels, depths = labels % len(classes), torch.zeros(count, dtype=torch.int64)
    shorts = (tree.short() for tree in trees)
    return PairTensors(*premise, *hypothesis, labels, depths, classes, *shorts)


def random_tree(length: int, draws: Random) -> list[int]:
    """Number of nodes of a random binary tree over `length` tokens that end after each."""
    tree, open_parts = [], 0
    for place in range(length):
        ended = open_parts if place == length - 1 else draws.randint(0, open_parts)
        tree.append(ended)
        open_parts += 1 - ended
    return tree


def sample_sentences(lengths: Sequence[int], size: int) -> tuple[Tensor, Tensor]:
    """Random words [sentences, tokens, size], with random padding, and their mask."""
    mask = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    return torch.randn(*mask.shape, size, dtype=torch.float64), mask


def sample_words(seed: int = 0) -> WordVectors:
    """Random vectors; every fourth word has none, and every eighth is in no training pair."""
    generator = torch.Generator().manual_seed(seed)
    found = torch.arange(WORDS) % 4 != 0
    vectors = torch.randn(WORDS, DIMENSIONS, generator=generator) * found[:, None]
    numbers = torch.arange(WORDS)
    return WordVectors(vectors, found, word_hash=numbers * 7919, in_train=numbers % 8 != 0)


def sample_data(train: int = 48, dev: int = 24) -> TrialData:
    return TrialData(sample_pairs(train, 1), sample_pairs(dev, 2), sample_words())


def sample_batch(count: int = 6, *, null_token: bool = False) -> Batch:
    return collate(sample_pairs(count), torch.arange(count), null_token=null_token)


def save_sample_data(folder: Path, data: TrialData | None = None) -> None:
    """Write data as the stage `tensors` does."""
    data = data or sample_data()
    data.train.save(folder / "train.pt")
    data.dev.save(folder / "dev.pt")
    torch.save(vars(data.words), folder / "embedding.pt")
