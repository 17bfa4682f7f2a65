"""Compose params.yaml from conf/ as `dvc exp run -S` does, without writing it."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from hydra import compose, initialize_config_dir
from hydra.errors import HydraException
from omegaconf import OmegaConf

from actmodels.errors import ConfigError, first_line
from pipeline.parameters.edits import unknown_switches
from pipeline.parameters.load import load_params
from pipeline.parameters.schema import Params
from pipeline.parameters.watching import watched


def composed_params(root: Path, switches: Sequence[str]) -> Params:
    """Return the parameters of these switches: `preset=paper`, `sweep.max_epochs=3`.

    Raises:
        ConfigError: a switch is unknown, or a value is not valid.
    """
    if problems := unknown_switches(root / "conf", switches):
        raise ConfigError("conf", problems)
    try:
        with initialize_config_dir(str(root / "conf"), version_base=None):
            tree = compose("config", overrides=list(switches))
    except HydraException as error:
        raise ConfigError("conf", [first_line(error)]) from error
    tree.watch = watched(tree)
    return checked_params(OmegaConf.to_yaml(tree, resolve=True), switches)


def checked_params(text: str, switches: Sequence[str]) -> Params:
    """Return the parameters of a composed text; raise ConfigError if a value is not valid."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "params.yaml")
        path.write_text(text, "utf-8")
        try:
            return load_params(path)
        except ConfigError as error:
            source = " ".join(["params.yaml", *(["with", *switches] if switches else [])])
            raise ConfigError(source, error.problems) from error
