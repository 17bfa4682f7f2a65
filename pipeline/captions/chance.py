"""Where chance comes from while captions are drawn."""

from random import Random

from pipeline.parameters.generated_sections import Captions


class Chance(Random):
    """The random numbers of one purpose, with the shares that params.yaml sets.

    Args:
        settings: the section `corpus.captions`; its seed is this one's too.
        purpose: what the numbers are for, such as a split; another one draws others.
    """

    def __init__(self, settings: Captions, purpose: str) -> None:
        super().__init__(f"captions {settings.seed} {purpose}")
        self.settings = settings

    def happens(self, share: float) -> bool:
        """Whether what happens in this share of all cases happens now."""
        return self.random() < share
