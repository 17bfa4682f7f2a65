"""Which stages read local files, which DVC does not know."""

from typing import Any


def watched(params: Any) -> list[str]:
    """Return the stages that read local files: the setting `watch` of these parameters."""
    local = any(str(url).lower().startswith("file:") for url in params.vectors.glove.urls)
    reading = {"corpus": params.corpus.source == "files"}
    reading |= {"vectors": params.vectors.source == "glove" and local}
    return [stage for stage, reads in reading.items() if reads]
