"""The first screen: environment, main metrics, test accuracy by model, highlights of studies."""

from collections.abc import Sequence
from datetime import date

from reports import format as fmt
from reports.blocks import Highlights, Overview, StudyReports, Tile
from reports.load import Artifacts
from reports.sections.table_1 import accuracy_chart, systems

GLOSSARY = {
    "ACT": "adaptive computation time: the model decides after each step whether to halt.",
    "Ponder cost": "the training penalty on the number of steps.",
}


def highlighted(data: Artifacts, studies: StudyReports) -> list[Highlights]:
    """Return the highlights of the studies that have some."""
    return [study.highlights(data) for study in studies.values() if study.highlights]


def overview(data: Artifacts, highlights: Sequence[Highlights]) -> Overview:
    """Return the overview."""
    sweep = data.documents["sweep/environment"]
    machine, code = sweep["machine"], sweep["provenance"]
    note = "" if fmt.on_all_of_snli(data) else ", not comparable with published results"
    environment = [
        f"{date.today():%Y-%m-%d}",
        f"Machine: {machine['cpu']}, {machine['cores']} cores, GPU {machine['gpu'] or 'none'}",
        f"Commit {code['git_commit'][:8]}",
        f"torch {code['torch_version']}, Ray {code['ray_version']}",
    ]
    charts = [accuracy_chart(data), *(chart for one in highlights for chart in one.charts)]
    glossary = GLOSSARY | {term: text for one in highlights for term, text in one.glossary.items()}
    corpus = f"Corpus: {fmt.corpus(data)}{note}; {fmt.majority(data)}"
    return Overview(corpus, environment, _tiles(data, highlights), charts, glossary)


def metrics(data: Artifacts, highlights: Sequence[Highlights]) -> dict[str, float]:
    """Return the numbers of the tiles; accuracies in [0, 1], of the best model on dev."""
    best, _, _ = _best(data)
    values: dict[str, float] = {
        "trials": len(data["sweep/trials"]),
        "dev_accuracy": float(best["dev_accuracy_mean"]),
        "test_accuracy": float(best["test_accuracy_mean"]),
    }
    if best["test_mean_steps_n"]:
        values["mean_steps"] = float(best["test_mean_steps_mean"])
    return values | {name: value for one in highlights for name, value in one.metrics.items()}


def _tiles(data: Artifacts, highlights: Sequence[Highlights]) -> list[Tile]:
    best, adaptive, baseline = _best(data)
    accuracy, note = fmt.percent("test_accuracy"), f"{fmt.model_name(best)}, best on dev"
    if baseline["dev_accuracy_mean"] > best["dev_accuracy_mean"]:
        note = f"{fmt.model_name(best)}; {fmt.model_name(baseline)}, better on dev: "
        note += f"{accuracy(baseline)} %"
    tiles = [Tile("Test accuracy", f"{accuracy(best)} %", note)]
    if adaptive is not None:
        steps = fmt.number("test_mean_steps")(adaptive)
        tiles.append(Tile("Mean steps per pair", steps, fmt.model_name(adaptive)))
    tiles += [tile for one in highlights for tile in one.tiles]
    sweep = data.documents["sweep/environment"]
    reused = f"{sweep['reused']:,} reused, {sweep['trials'] - sweep['reused']:,} run"
    return [*tiles, Tile("Sweep trials", f"{sweep['trials']:,}", volatile=reused)]


def _best(data: Artifacts) -> tuple[fmt.Row, fmt.Row | None, fmt.Row]:
    """Return the best model on dev, the best adaptive one if any, and the lexical baseline."""
    frame = systems(data).set_index("model", drop=False)
    adaptive = frame[frame["model"].isin(data.adaptive) & (frame["test_mean_steps_n"] > 0)]
    best = None if adaptive.empty else adaptive.loc[adaptive["dev_accuracy_mean"].idxmax()]
    return frame.loc[data.best_on_dev], best, frame.loc["lexical_baseline"]
