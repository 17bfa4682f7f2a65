"""What is neither a folder nor a URL of a known form is refused where params.yaml is read."""

from pathlib import Path

import pytest

from actmodels.errors import ConfigError
from pipeline.parameters.load import load_params
from tests.pipeline.project import write_params

FORMS = "must be a folder, or a URL: file:///folder, s3://bucket/prefix or gs://bucket/prefix"


@pytest.mark.parametrize(
    "place",
    [
        "s3:/bucket/x",
        "~nobody/x",
        " ",
        "\n",
        "file:",
        "file://x",
        "S3://b",
        "s3://",
        "",
        "x ",
        "a:b",
    ],
)
def test_a_mistyped_place_is_no_folder(place: str, folder: Path) -> None:
    write_params(folder, cluster={"storage": place, "state": place})
    with pytest.raises(ConfigError) as caught:
        load_params()
    named = [f"cluster.{key} is {place!r}; {FORMS}" for key in ("storage", "state")]
    assert caught.value.problems == named


@pytest.mark.parametrize(
    "place",
    ["state/ray", "/mnt/x", "~/x", "./s3:/x", "größe x", "file:///mnt/x", "s3://b/p", "gs://b"],
)
def test_a_place_of_a_known_form(place: str, folder: Path) -> None:
    write_params(folder, cluster={"storage": place})
    assert load_params().cluster.storage == place


@pytest.mark.parametrize("url", ["http://[::1/a.zip", "http://host:port/a.zip", "file:///a%00b"])
def test_a_url_that_leads_nowhere(url: str, folder: Path) -> None:
    write_params(folder, corpus={"snli": {"urls": [url]}})
    with pytest.raises(ConfigError, match=r"corpus\.snli\.urls\[0\] is .*; must be a URL that"):
        load_params()
