"""Downloads over TLS."""

import shutil
import subprocess
from pathlib import Path

import pytest

from actmodels.errors import DataError
from pipeline.datasets.download import Fetched, fetch
from tests.pipeline.datasets.server import answer, serving

KEY = "corpus.snli"


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A self-signed certificate and its key in one file."""
    path = tmp_path / "own.pem"
    command = f"openssl req -x509 -newkey rsa:2048 -nodes -keyout {path} -out {path}.crt -days 2"
    command += " -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1"
    subprocess.run(command.split(), check=True, capture_output=True)
    path.write_bytes(path.read_bytes() + Path(f"{path}.crt").read_bytes())
    return path


@pytest.mark.skipif(not shutil.which("openssl"), reason="needs openssl to make a certificate")
def test_certificates(folder: Path, certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"):
        monkeypatch.delenv(name, raising=False)
    with serving(b"content", answer(), certificate=certificate) as site:
        file = Fetched(urls=[site.url], sha256=None, bytes=None)
        with pytest.raises(DataError, match=r"self.signed.*; set REQUESTS_CA_BUNDLE or SSL_CERT_F"):
            fetch(file, KEY)
        for value in ("/no/such", __file__):
            monkeypatch.setenv("REQUESTS_CA_BUNDLE", value)
            message = f"BUNDLE is {value}, which has no certificates .*; correct or unset REQUESTS"
            with pytest.raises(DataError, match=message):
                fetch(file, KEY)
        monkeypatch.delenv("REQUESTS_CA_BUNDLE")
        assert site.ranges == []
        monkeypatch.setenv("SSL_CERT_FILE", f"{certificate}.crt")
        assert fetch(file, KEY).read_bytes() == b"content"
