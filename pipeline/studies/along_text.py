"""What trained networks do with the bytes of a text: along a passage, and by kind of byte."""

from typing import Any

from actmodels.draws import generator
from actmodels.errors import DataError
from actmodels.sequences.act_rnn import ActRnn
from actmodels.sequences.build import build_task
from actmodels.sequences.characters import Characters, read_bytes
from actmodels.sequences.config import SequenceTrialConfig
from actmodels.sequences.pondering import by_kind, read
from pipeline.parameters.study_sections import Graves
from pipeline.sources.stored_text import StoredText


class Reading:
    """One text, and what of it is read with networks that are trained.

    Args:
        text: that the networks were trained on.
        study: says how much is read, and from where.
    """

    def __init__(self, text: StoredText, study: Graves) -> None:
        self.text, self.study = text, study
        self.bytes = read_bytes(text.path)

    def task(self, config: SequenceTrialConfig) -> Characters:
        """The task of a trial.

        Raises:
            DataError: the text is too short for it, or the part held out for the passage.
        """
        task = build_task(config.task, self.bytes, f"graves.text, {self.text.name}")
        assert isinstance(task, Characters)
        least = self.study.read_from + self.study.read_bytes + 1  # the last is predicted alone
        if len(task.held_out) < least:
            raise DataError(
                f"graves.text, {self.text.name}: {len(task.held_out):,} bytes are held out, but "
                f"read_from, read_bytes and the byte after them need {least:,}; hold out more or "
                "read less"
            )
        return task

    def model(self, config: SequenceTrialConfig, weights: dict[str, Any]) -> ActRnn:
        """A trained network."""
        task = self.task(config)
        model = ActRnn(task.inputs, task.outputs.size, config.network, config.halting)
        model.load_state_dict(weights)
        return model

    def passage(self, config: SequenceTrialConfig) -> bytes:
        """What is read byte by byte, and the byte after it."""
        start = self.study.read_from
        return bytes(self.task(config).held_out[start : start + self.study.read_bytes + 1].tolist())

    def along(self, config: SequenceTrialConfig, weights: dict[str, Any]) -> list[dict[str, Any]]:
        """A line for each byte of the passage, read from a state of zeros."""
        found = read(self.model(config, weights), self.task(config), self.passage(config))
        return [
            {
                **{"position": position, "byte": one.byte, "steps": one.steps},
                **{"ponder": one.ponder_cost, "loss": one.loss, "entropy": one.entropy},
            }
            for position, one in enumerate(found, start=1)
        ]

    def by_kind(self, config: SequenceTrialConfig, weights: dict[str, Any]) -> list[dict[str, Any]]:
        """A line for each kind of byte, of windows that are the same for all runs."""
        found = by_kind(
            self.model(config, weights),
            self.task(config),
            self.study.drawn,
            generator("drawn sequences", self.study.drawn_seed),
            config.training.batch_size,
        )
        return [
            {
                **{"kind": one.kind, "bytes": one.count, "steps": one.steps},
                **{"ponder": one.ponder_cost, "loss": one.loss, "entropy": one.entropy},
            }
            for one in found
        ]
