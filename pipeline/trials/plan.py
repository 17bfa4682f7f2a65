"""`act-nli sweep plan`: what a sweep would cost, from a measured epoch of each shape."""

import math
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import torch

from actmodels.data.pairs import FIRST_WORD, PairTensors
from actmodels.data.trial_data import WordVectors
from actmodels.errors import ConfigError
from pipeline.parameters.load import Params, load_params
from pipeline.parameters.use import params_with
from pipeline.runtime.results import data_digest, read_json
from pipeline.runtime.stage import artifacts
from pipeline.trials.execution import DATA, data_is_current, execution_settings, planned_trials
from reports.format import duration
from tune.cluster.planning import Shape, measure_shapes
from tune.trials.proposed_trials import ProposedTrials
from tune.trials.store import TrialStore

LENGTHS = (14, 8)  # Bowman et al. 2015: mean tokens of SNLI's premises and hypotheses
SNLI = {"train": 549_367, "dev": 9_842}  # its labeled pairs
DRAWN, WORDS = 2048, 20_000  # ours: pairs and words of drawn data
PAIR_BYTES = 4 * sum(LENGTHS) + 32  # see PairTensors
RECORD, EPOCH = 2_000, 600  # bytes of a record, and of each epoch in it
LOGGED = (0.14, 0.05)  # seconds of the driver for a trial, and for each epoch (docs/cluster.md)
SHAPE = ("width", "state_size", "batch_size")  # settings that name a shape
ASSUMED = (
    "Assumed: every trial runs all epochs at the speed of an untrained model, workers are busy to "
    "the end, and a dev pair takes as long as a training pair. Not counted: Ray's start, some 20 s."
)


def sweep_plan(words: Sequence[str]) -> str:
    """Return trials, time, memory and storage of the sweep of params.yaml.

    Args:
        words: patches and values over it, as of `act-nli use`.

    Raises:
        ConfigError: a word is not valid, or the number of pairs is not known.
    """
    current = load_params()
    params = params_with(words) if words else current
    ready = all(getattr(params, name) == getattr(current, name) for name in DATA)
    ready = ready and artifacts("tensors", "manifest.json").is_file()
    ready = ready and data_is_current()
    execution = execution_settings(params)
    digest = data_digest() if ready else "drawn"
    pairs = read_json("tensors", "manifest.json")["pairs"] if ready else _pairs(params)
    trials = planned_trials(params, execution, digest)
    proposed = ProposedTrials(trials, execution.trials, lambda _: None)
    store = TrialStore(execution.trials)
    finished = {key for key in proposed.keys if store.holds(key)}
    if proposed.templates:  # one of each model; a random search draws as many as will be proposed
        drawn = params.sweep.model_copy(update={"search": "random"})
        trials = planned_trials(params.model_copy(update={"sweep": drawn}), execution, digest)
    to_run = [trial for trial in trials if trial.key not in finished] or trials
    count = proposed.total - len(finished)
    lines = [f"sweep: {proposed.total} trials: {len(finished)} reused, {count} to run"]
    if count:
        with tempfile.TemporaryDirectory() as folder:
            if not ready:
                execution = replace(execution, data_folder=_draw(Path(folder), params))
            workers, memory, shapes = measure_shapes(to_run, execution)
        epochs, examples = params.sweep.max_epochs, pairs["train"] + pairs["dev"]
        lines += _times(shapes, examples, epochs, count / len(to_run), workers)
        shared = (examples * PAIR_BYTES + 4 * math.prod(_vectors(params))) / 2**20
        kind = "GPU" if execution.device == "cuda" else "main"
        lines += [
            f"{kind} memory: {memory * workers:,.0f} MiB; on each node {shared:,.0f} MiB of data",
            f"storage: {count * (RECORD + EPOCH * epochs) / 2**20:,.1f} MiB of records",
            ASSUMED,
        ]
    if not ready:
        lines.append(
            "The data of these parameters is not prepared: no trial counts as reused, and the "
            f"speed is that of random pairs of {LENGTHS[0]} and {LENGTHS[1]} tokens."
        )
    return "\n".join(lines)


def _pairs(params: Params) -> dict[str, int]:
    """Return the number of pairs of each split, before the data is prepared."""
    corpus = params.corpus
    if corpus.source == "files":
        raise ConfigError(
            "params.yaml", ["corpus.files: its pairs are not counted yet; run: dvc repro tensors"]
        )
    if corpus.source == "snli":
        return dict(corpus.snli.labeled_pairs or SNLI)
    return {split: getattr(corpus.captions, split) for split in SNLI}


def _draw(folder: Path, params: Params) -> Path:
    """Write random pairs and vectors as the stage `tensors` does."""
    words = min(params.vocabulary.size, WORDS)

    def drawn(length: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        ids = torch.randint(FIRST_WORD, FIRST_WORD + words, (DRAWN * length,), dtype=torch.int32)
        tree = torch.zeros(DRAWN, length, dtype=torch.int16)
        tree[:, -1] = length - 1  # right-branching
        return ids, torch.arange(DRAWN + 1) * length, tree.flatten()

    (premise, starts, tree), (hypothesis, ends, other) = map(drawn, LENGTHS)
    classes = params.corpus.classes
    labels = torch.randint(len(classes), (DRAWN,))
    sides = (premise, starts, hypothesis, ends)
    pairs = PairTensors(*sides, labels, labels * 0, classes, tree, other)
    for split in ("train", "dev"):
        pairs.save(folder / f"{split}.pt")
    vectors, known = torch.randn(_vectors(params)), torch.ones(words, dtype=torch.bool)
    stored = WordVectors(vectors, known, torch.arange(words), known)
    torch.save(vars(stored), folder / "embedding.pt")
    return folder


def _vectors(params: Params) -> tuple[int, int]:
    """Return the size of the drawn word vectors."""
    return min(params.vocabulary.size, WORDS), params.vectors.dimensions


def _times(
    shapes: Sequence[Shape], pairs: int, epochs: int, scale: float, workers: int
) -> Iterator[str]:
    """Yield the time of each shape, and of all; scale: trials to run by measured ones."""
    settings, total = [trials[0].config.flat() for trials, _ in shapes], 0.0
    names = [n for n in SHAPE if len({of[n] for of in settings if n in of}) > 1]
    for (measured, rate), of in zip(shapes, settings, strict=True):
        trials = len(measured) * scale
        seconds = trials * (LOGGED[0] + epochs * (LOGGED[1] + pairs / rate))
        total += seconds
        shown = "".join(f", {name} {of[name]}" for name in names if name in of)
        speed = f"{trials:.0f} at {rate:,.0f} pairs/s, {duration(seconds)}"
        yield f"  {of['model']}{shown}: {speed}"
    yield f"time: {duration(total / workers)} with {workers} at the same time"
