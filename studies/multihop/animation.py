"""Draw a trained network that follows the hops of one pair, step by step, as an animated SVG.

Run, after a run of the study: python -m studies.multihop.animation docs/images/steps.svg
"""

import sys
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from xml.sax.saxutils import escape

import torch
from torch import Tensor

from actmodels.data.pairs import FIRST_WORD, collate
from actmodels.data.trial_data import WordVectors
from actmodels.files import files_digest, write_text
from actmodels.models.alternating import AlternatingAttention
from actmodels.seeding import generator
from actmodels.tracing import Trace, trace
from pipeline.parameters.load import Params, load_params
from pipeline.parameters.studies import study_section
from pipeline.runtime.stage import artifacts
from pipeline.trials.execution import execution_settings
from pipeline.trials.models import load_model
from studies.multihop.config import CorpusConfig
from studies.multihop.corpus import draw_split
from studies.multihop.section import Study, multihop_trials
from studies.multihop.words import CLASSES, vocabulary
from tune.trials.grid import with_keys
from tune.trials.store import TrialStore

MODEL, HOPS = "hop_attention_dact", 12
COLUMNS, WIDTH, HEIGHT = 4, 225, 26  # columns of facts; pixels of a fact
SECONDS, REST = 0.9, 4  # seconds of a step; steps for which the end is shown
STYLE = "font: 14px sans-serif; fill: #222"


def sentences(words: Tensor, corpus: CorpusConfig) -> list[str]:
    """Return the sentences, four words each, of a premise or hypothesis."""
    known = vocabulary(corpus.things, corpus.distractors)
    parts = [[known[word - FIRST_WORD] for word in fact] for fact in words.view(-1, 4).tolist()]
    return [f"{first.capitalize()} {relation} {last}." for first, relation, last, _ in parts]


def blink(start: int, end: int, frames: int) -> str:
    """Return an animation that shows its element from a frame to another, and again forever."""
    times = [0, start / frames, *([end / frames] if end < frames else [])]
    keys = ";".join(f"{time:.4f}" for time in times)
    return (
        f'<animate attributeName="opacity" calcMode="discrete" dur="{SECONDS * frames:.1f}s" '
        f'repeatCount="indefinite" values="{";".join("010"[: len(times)])}" keyTimes="{keys}"/>'
    )


def draw_steps(premise: Sequence[str], hypothesis: str, traced: Trace) -> str:
    """Return the picture of one pair; attended facts are marked, and keep the step's number."""
    count, rows = int(traced.steps[0]), -(-len(premise) // COLUMNS)
    frames, lines = count + 1 + REST, list[str]()
    attention = traced.premise[0].unflatten(1, (len(premise), 4)).sum(dim=2)
    for number, fact in enumerate(premise):
        x, y = 10 + number // rows * WIDTH, 50 + number % rows * HEIGHT
        for step in range(count):
            if (weight := float(attention[step, number])) >= 0.01:
                box = f'<rect x="{x}" y="{y - 17}" width="{WIDTH - 8}" height="{HEIGHT - 4}" rx="4"'
                box += f' fill="#f2a93b" fill-opacity="{weight:.2f}" opacity="0">'
                lines.append(f"{box}{blink(step + 1, step + 2, frames)}</rect>")
            if int(attention[step].argmax()) == number:
                mark = f'<text x="{x + WIDTH - 30}" y="{y}" font-weight="bold">{step + 1}'
                lines.append(f"{mark}{blink(step + 1, frames, frames)}</text>")
        lines.append(f'<text x="{x + 6}" y="{y}">{escape(fact)}</text>')
    bottom = 62 + rows * HEIGHT
    for step in range(count):
        halting, last = float(traced.halting[0, step]), step + 1 == count
        text = f"Step {step + 1}: halting probability {halting:.2f}"
        text += f". Halts: {CLASSES[int(traced.answer[0].argmax())]}." if last else ""
        end = frames if last else step + 2
        hidden = "" if last else ' opacity="0"'  # a viewer without animations shows the end
        shown = f'<text x="10" y="{bottom}"{hidden}>{text}{blink(step + 1, end, frames)}</text>'
        lines.append(shown)
    size = f'width="{10 + COLUMNS * WIDTH}" height="{bottom + 14}"'
    title = f'<text x="10" y="22" font-weight="bold">Does it follow? {escape(hypothesis)}</text>'
    start = f'<svg xmlns="http://www.w3.org/2000/svg" {size} style="{STYLE}">'
    return "\n".join(
        [start, '<rect width="100%" height="100%" fill="white"/>', title, *lines, "</svg>\n"]
    )


def trained_model(params: Params, study: Study) -> AlternatingAttention:
    """Return the network of the first seed from the last run of the study."""
    folder = artifacts("studies", "multihop")
    execution = execution_settings(params, data_folder=folder, dataset="multihop")
    if MODEL not in study.models:
        sys.exit(f"error: multihop.models of params.yaml has no {MODEL}; add it and run the study")
    _, config = next(iter(multihop_trials(MODEL, study)))
    data = [folder / name for name in ("dev.pt", "embedding.pt")]
    store, key = TrialStore(execution.trials), ""
    if all(path.is_file() for path in data):
        digest = files_digest(folder, [path.name for path in data])
        key = with_keys([config], digest, execution)[0].key
    if not (key and store.load(key, needs_weights=True)):
        sys.exit("error: the study has not run as params.yaml says; run: dvc repro study@multihop")
    words, weights = WordVectors.load(data[1]), BytesIO(store.weights(key))
    model = load_model(config, words, len(CLASSES), weights, "study@multihop")
    assert isinstance(model, AlternatingAttention)
    return model


def main(target: Path) -> None:
    """Write the picture of one pair."""
    params = load_params()
    study = study_section(params, Study)
    model, corpus = trained_model(params, study), study.corpus.premises
    model.halting.max_steps = study.evaluation.max_steps
    pair = draw_split(corpus, 1, [HOPS], HOPS, generator("animation", 0))
    batch = collate(pair, torch.tensor([0]), null_token=False, device="cpu")
    (hypothesis,) = sentences(batch.hypothesis[0], corpus)
    premise = sentences(batch.premise[0], corpus)
    write_text(target, draw_steps(premise, hypothesis, trace(model, batch)))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m studies.multihop.animation FILE.svg")
    main(Path(sys.argv[1]))
