"""Write the address of the published repository into its package: `package_urls.py ADDRESS TAG`.

Git has no address, so that a copy of the repository publishes its own. A package page shows
docs/library.md alone, so relative links become absolute.
"""

import re
import sys
from pathlib import Path
from urllib.parse import urljoin

PAGE = "docs/library.md"


def main(address: str, tag: str) -> None:
    """Add `project.urls` to pyproject.toml and make the links of the package page absolute."""
    page = f"{address}/blob/{tag}/{PAGE}"
    parts = Path(PAGE).read_text(encoding="utf-8").split("```")
    parts[::2] = [  # prose; the others are code
        re.sub(r"(?<=\]\()[^)\s]+", lambda link: urljoin(page, link[0]), text)
        for text in parts[::2]
    ]
    Path(PAGE).write_text("```".join(parts), encoding="utf-8")
    urls = {
        "Documentation": page,
        "Source": address,
        "Issues": f"{address}/issues",
        "Changelog": f"{address}/blob/{tag}/CHANGELOG.md",
    }
    lines = [f'{name} = "{url}"\n' for name, url in urls.items()]
    with Path("pyproject.toml").open("a", encoding="utf-8") as project:
        project.writelines(["\n[project.urls]\n", *lines])


if __name__ == "__main__":
    main(*sys.argv[1:])
