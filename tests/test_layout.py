"""Layout: stage = module = params.yaml section = artifact folder; small files; a true map."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from pipeline.parameters.schema import Params
from pipeline.parameters.studies import study_names
from tests.pipeline.project import shipped_params
from tune.trials.provenance import files_behind, sources

ROOT = Path(__file__).parents[1]
PACKAGES = ("actmodels", "bench", "pipeline", "reports", "studies", "tune")
MODULES = sorted(
    path.relative_to(ROOT).as_posix()
    for package in PACKAGES
    for path in (ROOT / package).rglob("*.py")
    if path.name != "__init__.py"
)
MAX_LINES = 400
COMMANDS = {"predict", "ui", "__main__"}  # commands that are not stages


STUDIES = study_names()


@pytest.fixture(scope="module")
def stages() -> dict[str, Any]:
    """The entries of dvc.yaml, with one of `study` for each study."""
    path = ROOT / "dvc.yaml"
    stages: dict[str, Any] = YAML(typ="safe", pure=True).load(path.read_text())["stages"]
    study = json.dumps(stages.pop("study")["do"])
    watch = json.dumps(stages.pop("watched")["do"])
    watch = watch.replace(" ${item}", "").replace("/${item}/files.json", "")
    stages["watch"] = json.loads(watch.replace("${item}", "corpus"))
    return stages | {
        f"study@{name}": json.loads(study.replace("${item}", name)) for name in STUDIES
    }


def module_of(stage: str) -> str:
    study = stage.partition("@")[2]
    return f"studies.{study}.stage" if study else f"pipeline.{stage}"


def paths(stage: dict[str, Any], kind: str) -> list[str]:
    """Return the paths of a stage's entries: a path, or a mapping of one path to its options."""
    return [next(iter(e)) if isinstance(e, dict) else e for e in stage.get(kind, [])]


def test_a_stage_is_a_module_that_runs_itself(stages: dict[str, Any]) -> None:
    for name, stage in stages.items():
        module = module_of(name)
        assert stage["cmd"] == f"sh pipeline/python -m {module}"
        text = (ROOT / f"{module.replace('.', '/')}.py").read_text()
        assert re.search(r"\n    run_stage\(main.*\)\n\Z", text), name  # after all definitions


def test_a_module_that_runs_itself_is_a_stage_or_a_command(stages: dict[str, Any]) -> None:
    runs = re.compile(r"^ +run_(stage|command)\(main.*\)$", re.MULTILINE)
    files = [*(ROOT / "pipeline").glob("*.py"), *(ROOT / "studies").rglob("*.py")]
    parts = [p.relative_to(ROOT).with_suffix("").parts for p in files if runs.search(p.read_text())]
    expected = {module_of(name) for name in stages} | {f"pipeline.{name}" for name in COMMANDS}
    assert {".".join(part) for part in parts} == expected


def test_nothing_imports_a_stage(stages: dict[str, Any]) -> None:
    names = "|".join(name for name in stages if "@" not in name)
    imports = rf"^ *(from pipeline import .*\b({names})\b|(from|import) pipeline\.({names})\b)"
    imports += r"|^ *(from|import) studies\.\w+(\.| import )stage\b"
    importing = re.compile(imports, re.MULTILINE)
    assert [path for path in MODULES if importing.search((ROOT / path).read_text())] == []


def test_the_core_names_no_study() -> None:
    names = "|".join(STUDIES)
    quoted = names.replace("|halting", "")  # also a part of a trial
    naming = re.compile(rf"[\"']({quoted})[\"'/.@]|(params\.|studies[./]|study[@=])({names})\b")
    core = [path for path in MODULES if path.split("/")[0] not in ("studies", "bench")]
    found = [path for path in core if naming.search((ROOT / path).read_text())]
    assert found == []


def test_a_stage_depends_on_its_section(stages: dict[str, Any]) -> None:
    core = {name for name in stages if "@" not in name}
    assert set(Params.model_fields) == {*core, "cluster", "studies"}
    for name, stage in stages.items():
        keys = [key.split(".")[0] for key in paths(stage, "params")]
        assert name.rpartition("@")[2] in keys, f"stage {name} does not depend on its section"
        assert set(keys) <= {*Params.model_fields, *STUDIES}


def test_a_stage_writes_under_its_own_folder(stages: dict[str, Any]) -> None:
    for name, stage in stages.items():
        written = [path for kind in ("outs", "metrics", "plots") for path in paths(stage, kind)]
        assert written
        for path in written:
            folder = name.replace("study@", "studies/")
            assert f"{path}/".startswith(f"artifacts/{folder}/"), path


def test_every_stage_can_be_restored_from_the_run_cache(stages: dict[str, Any]) -> None:
    """DVC saves no run with an uncached output, other than metrics and plots; git keeps those."""
    for name, stage in stages.items():
        assert all(isinstance(out, str) for out in stage["outs"]), name
    report = stages.pop("report")
    for name, stage in stages.items():
        assert stage["outs"] == [f"artifacts/{name.replace('study@', 'studies/')}"]
    assert not any("metrics" in stage or "plots" in stage for stage in stages.values())
    paths_of = {kind: paths(report, kind) for kind in ("outs", "metrics", "plots")}
    listed = (path for kind in paths_of.values() for path in kind)
    command = ["git", "check-ignore", "--no-index", *listed]
    ignored = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout.split()
    assert ignored == paths_of["outs"]


def test_dependencies_exist_or_are_outputs(stages: dict[str, Any]) -> None:
    outputs = [path for stage in stages.values() for path in paths(stage, "outs")]
    outputs += [path for stage in stages.values() for path in paths(stage, "metrics")]
    for name, stage in stages.items():
        for path in paths(stage, "deps"):
            is_output = any(f"{path}/".startswith(f"{o}/") or o.startswith(path) for o in outputs)
            assert is_output or (ROOT / path).exists(), f"{name}: {path}"


def test_a_stage_depends_on_the_code_that_it_imports(stages: dict[str, Any]) -> None:
    texts = sources(*(ROOT / package for package in PACKAGES))
    missing, unused = dict[str, list[str]](), dict[str, set[str]]()
    del stages["watch"]  # always runs
    for name, stage in stages.items():
        roots = [module_of(name)]
        if name == "report":
            roots += [f"studies.{study}.report" for study in STUDIES]
        elif "@" in name:
            roots.append(f"studies.{name.partition('@')[2]}.section")
        files = files_behind(roots, texts, ROOT)
        needed = {f.relative_to(ROOT).as_posix() for f in files if f.name != "__init__.py"}
        code = [path for path in paths(stage, "deps") if path.split("/")[0] in PACKAGES]
        covers = {
            path: {f for f in needed if f == path or f.startswith(f"{path}/")} for path in code
        }
        if without := needed - set().union(*covers.values()):
            missing[name] = sorted(without)
        idle = {path for path, used in covers.items() if not used}
        entry = name.partition("@")[0]  # the studies share one
        unused[entry] = unused.get(entry, idle) & idle
    assert missing == {}
    assert {entry: paths for entry, paths in unused.items() if paths} == {}


def test_the_map_has_the_top_level_folders() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    command = ["git", "ls-tree", "-d", "--name-only", "HEAD"]
    tracked = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout.split()
    folders = [name for name in tracked if not name.startswith(".")]
    assert [name for name in folders if f"`{name}/" not in page] == []


def test_the_map_names_every_folder_and_no_file_that_is_gone() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    folders = {module.rpartition("/")[0] for module in MODULES}
    assert [folder for folder in sorted(folders) if f"`{folder}/`" not in page] == []
    named = re.findall(rf"`((?:{'|'.join(PACKAGES)})/[\w/]+\.py)`", page)
    assert [path for path in named if not (ROOT / path).is_file()] == []
    rows = re.findall(r"^\| `([\w/]+/)` \|.*\| (`.*`) \|$", page, re.MULTILINE)
    starts = [(folder, name) for folder, names in rows for name in re.findall(r"`(.+?)`", names)]
    assert len(starts) > 30
    assert [s for s in starts if not any((ROOT / f / s[1]).exists() for f in ("", s[0]))] == []


def test_files_are_small() -> None:
    files = [ROOT / module for module in MODULES] + list((ROOT / "tests").rglob("*.py"))
    long = [path for path in files if path.read_text(encoding="utf-8").count("\n") > MAX_LINES]
    assert long == []


def test_dvc_yaml_and_the_params_of_the_demo_are_short() -> None:
    for text, most in (((ROOT / "dvc.yaml").read_text("utf-8"), 165), (shipped_params(), 240)):
        assert text.count("\n") <= most
        assert max(map(len, text.split("\n"))) <= 100


def test_every_package_has_an_empty_init() -> None:
    folders = {path.parent for package in PACKAGES for path in (ROOT / package).rglob("*.py")}
    folders |= {path.parent for path in (ROOT / "tests").rglob("test_*.py")}
    # version; the public names
    folders -= {ROOT / "actmodels", ROOT / "actmodels" / "halting", ROOT / "tune"}
    for folder in folders:
        assert (folder / "__init__.py").read_text() == "", folder
