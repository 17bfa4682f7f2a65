"""A small text and a study of its characters."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

from pipeline.parameters.study_sections import Graves, SequenceStudy

CONTENT = b"The fox is [[quick]]. The dog, 12 years old, is lazy.\n" * 8
SETTINGS: dict[str, Any] = {
    **{"window": 6, "held_out_bytes": 120, "cell": "lstm", "state_size": 8, "init": "xavier"},
    **{"init_std": 0.1, "epsilon": 0.01, "max_steps": 4, "halting_bias": 0.0},
    **{"learning_rate": 0.01, "clip_norm": 1.0, "batch_size": 8, "updates_per_epoch": 3},
    **{"dev_sequences": 10, "dev_seed": 1},
}
STUDY = SequenceStudy(
    max_epochs=2, patience=0, without_act=True, ponder_weights=[0.01], settings=SETTINGS
)


def graves(**changes: Any) -> Graves:
    """The section, with one task."""
    given = {"seeds": [3, 4], "drawn": 20, "drawn_seed": 7, "text": "small", "read_from": 5}
    return Graves(**given | {"read_bytes": 30, "tasks": {"characters": STUDY}} | changes)


def store_text(folder: Path, content: bytes = CONTENT) -> str:
    """What stage `texts` writes, in a project's folder; the text's digest."""
    texts = folder / "artefacts" / "texts"
    texts.mkdir(parents=True)
    (texts / "small.txt").write_bytes(content)
    digest = sha256(content).hexdigest()
    summary = {"texts": {"small": {"bytes": len(content), "sha256": digest}}}
    (texts / "summary.json").write_text(json.dumps(summary), encoding="utf-8")
    return digest
