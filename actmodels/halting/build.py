"""From a halting's configuration to its module; found by name, as models are."""

from actmodels.halting.family import Halting
from actmodels.registry import HALTINGS, HaltingConfig, load_class


def build_halting(config: HaltingConfig, state: int) -> Halting:
    """Make the halting that a configuration asks for, over states of size `state`."""
    (halting,) = (kind.halting for kind in HALTINGS.values() if isinstance(config, kind.settings))
    built: Halting = load_class(halting)(config, state)
    return built
