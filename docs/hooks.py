"""What a page needs that is written for a reader of the repository: README is the first one."""

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Take README.md as the first page."""
    text = Path(config.config_file_path).with_name("README.md").read_text(encoding="utf-8")
    files.append(File.generated(config, "index.md", content=text.replace("](docs/", "](")))


def on_page_markdown(markdown: str, **_: object) -> str:
    """Lead to pages where the repository's files are named."""
    markdown = markdown.replace("](../README.md", "](index.md")
    return re.sub(r"(?<!\[)`docs/(\w+\.md)`", r"[\g<0>](\1)", markdown)
