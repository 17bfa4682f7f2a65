"""Progress bars in a log: a line for each state, so that no other output is glued to one."""

from typing import Any, TextIO


class BarLines:
    """A stream that ends each state of a progress bar with a line break, in place of `\\r`."""

    def __init__(self, stream: TextIO) -> None:
        self.stream, self.after_bar = stream, False

    def on(self, stream: TextIO) -> "BarLines":
        """Return the same for another stream."""
        return type(self)(stream)

    def write(self, text: str) -> int:
        """Write text; tqdm begins each state of a bar with `\\r`, and ends the bar with `\\n`."""
        if text.startswith("\r"):
            line = text.strip()
            self.stream.write(f"{line}\n" if line else "")
            self.after_bar = self.after_bar or bool(line)
        elif not (text == "\n" and self.after_bar):
            self.stream.write(text)
            self.after_bar = self.after_bar and not text
        else:
            self.after_bar = False
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)
