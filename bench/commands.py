"""Commands that should not keep anybody waiting: each in a new process, with its imports.

`at_most` is what is aimed at on an idle machine, in seconds. What importing torch and DVC alone
takes stands beside them: no command that needs these is faster.
"""

import json
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import torch
from ruamel.yaml import YAML

from actmodels.models.pair_model import build
from bench.data import ROOT, run
from bench.plan import Plan, Say
from bench.timing import interleaved, summary
from bench.work import TINY, trial
from pipeline.answering.bundle import write_bundle

PAIR = ("--premise", "A man sleeps.", "--hypothesis", "A man is awake.")
COMMANDS: dict[str, tuple[tuple[str, ...], float | None]] = {  # what Python is given; at most
    "import torch": (("-c", "import torch"), None),
    "predict, one pair": (("-m", "pipeline.predict", *PAIR), 2.5),
    "predict --help": (("-m", "pipeline.predict", "--help"), 0.2),
    "ui --help": (("-m", "pipeline.ui", "--help"), 0.2),
    "import dvc": (("-c", "import dvc.cli, dvc.repo"), None),
    "dvc repro, nothing to do": (("-m", "dvc", "repro", "--quiet"), 2.0),
}


def measure(plan: Plan, say: Say) -> dict[str, Any]:
    """A row for each command.

    Raises:
        DataError: a command failed.
    """
    project = plan.workspace / "project"
    say("a project with all made is laid out")
    lay_out(project)
    work = {name: partial(run, name, command, project) for name, (command, _) in COMMANDS.items()}
    runs = interleaved(work, plan.repeats, say)
    return {
        "rows": [
            {"command": name}
            | {key: summary(one[key] for one in runs[name]) for key in ("seconds", "cpu_seconds")}
            | {"at_most": at_most}
            for name, (_, at_most) in COMMANDS.items()
        ]
    }


def lay_out(project: Path) -> None:
    """A clone whose outputs are stand-ins that DVC takes as made, but for a model to ask."""
    subprocess.run(["git", "clone", "--quiet", ROOT, project], check=True)
    export = project / "artefacts" / "export"
    config, words = trial(TINY.width, 8), ["a", "man", "is", "."]
    vectors = torch.ones(3 + len(words), TINY.dimensions)
    rows = (vectors, torch.empty(0, dtype=torch.int64))
    folder = export / "models" / config.model
    model = build(config, *rows)
    digest = write_bundle(folder, config, model, rows, words, lowercase=True, origin={})
    stored = {"digest": digest, "dev_accuracy_mean": 0.5, "dev_minus_highest": None}
    best = {"best": config.model, "models": {config.model: stored}}
    (export / "best.json").write_text(json.dumps(best))
    stages = YAML(typ="safe", pure=True).load(project / "dvc.yaml")["stages"]
    for stage in stages.values():
        for out in (*stage["outs"], *stage.get("metrics", ()), *stage.get("plots", ())):
            path = project / (next(iter(out)) if isinstance(out, dict) else out)
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists():
                path.write_text(path.name)
    commit = [sys.executable, "-m", "dvc", "commit", "--quiet", "--force"]
    subprocess.run(commit, cwd=project, check=True)
