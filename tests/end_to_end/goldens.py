"""Compare the results of two commits on the same small project.

    python -m tests.end_to_end.goldens COMMIT [FOLDER]

runs the tiny project, with all studies, with the code of COMMIT and with the working tree's, and
prints every artifact that differs. Trial keys, code digests, timings and the HTML page are ignored.
The results of COMMIT are cached in FOLDER.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from pipeline.parameters.studies import study_names
from tests.end_to_end.project import ROOT, Project

# These depend on the code.
IGNORED = re.compile(r"index\.html|\.png|export/|weights/|\.pt|\.safetensors")
# In commits before the folder studies/.
STUDY = re.compile(rf"^({'|'.join(study_names())})/")
KEY = re.compile(rb"\b[0-9a-f]{12,64}\b")
SECONDS = re.compile(rb'"(seconds|examples_per_second)": [0-9.e+-]+')


def results(project: Project) -> dict[str, bytes]:
    return {
        STUDY.sub(r"studies/\1/", name.replace("cloze_data/", "cloze/data/")): SECONDS.sub(
            rb'"\1": 0', KEY.sub(b"KEY", content)
        )
        for name, content in project.artifacts().items()
        if not IGNORED.search(name)
    }


def run(source: Path, folder: Path) -> None:
    with_tests = "import sys; from pathlib import Path; from tests.end_to_end import project as p; "
    make = "q = p.Project(Path(sys.argv[1])); q.configure(p.TINY); "
    repro = "s, output = q.run('dvc', 'repro', timeout=3600); sys.exit(output if s else 0)"
    code = with_tests + make + repro
    subprocess.run([sys.executable, "-c", code, str(folder)], cwd=source, check=True)


def main(commit: str, cache: Path) -> int:
    """Print the differences; return 1 if there are any."""
    name = subprocess.check_output(["git", "rev-parse", commit], cwd=ROOT, text=True).strip()
    before = cache / name
    if not before.exists():
        source = Path(tempfile.mkdtemp()) / "source"
        subprocess.run(["git", "worktree", "add", "-q", "--detach", source, name], cwd=ROOT)
        cache.mkdir(parents=True, exist_ok=True)
        new = Path(tempfile.mkdtemp(dir=cache)) / "project"  # another process may do the same
        run(source, new)
        subprocess.run(["git", "worktree", "remove", "--force", source], cwd=ROOT)
        if not before.exists():
            new.rename(before)
    after = Path(tempfile.mkdtemp()) / "project"
    run(ROOT, after)
    old, new = results(Project(before)), results(Project(after))
    differing = [path for path in sorted({*old, *new}) if old.get(path) != new.get(path)]
    for path in differing:
        how = "missing" if path not in new else "new" if path not in old else "differs"
        print(f"{how}: {path}")
    print(f"{len(new)} artifacts compared, {len(differing)} differ; {before} and {after}")
    return int(bool(differing))


if __name__ == "__main__":
    folder = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(tempfile.gettempdir()) / "goldens"
    sys.exit(main(sys.argv[1], folder))
