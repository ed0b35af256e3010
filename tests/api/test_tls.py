"""TLS by certificate files."""

from __future__ import annotations

import ssl
import subprocess
from pathlib import Path

import httpx
import pytest

from tests.api.support import Server
from tests.conftest import Mason


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    """A certificate for this machine, signed by itself, and its key."""
    files = tmp_path / "certificate.pem", tmp_path / "key.pem"
    subprocess.run(
        [
            *["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"],
            *["-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"],
            *["-out", str(files[0]), "-keyout", str(files[1])],
        ],
        check=True,
        capture_output=True,
    )
    return files


def test_a_server_with_a_certificate_speaks_tls_and_nothing_else(mason: Mason, certificate: tuple[Path, Path]) -> None:
    file, key = certificate
    known = ssl.create_default_context(cafile=str(file))
    server = Server(mason, ("--certificate", str(file), "--key", str(key)), certificates=known).start()
    try:
        assert server.url.startswith("https://")
        assert server.get("/healthz").json() == {"status": "ok"}
        with pytest.raises(httpx.TransportError):
            httpx.get(server.url.replace("https://", "http://") + "/healthz", trust_env=False)
    finally:
        server.kill()


def test_a_certificate_that_is_not_there_is_named(mason: Mason) -> None:
    result = mason("run", "--certificate", "no.pem", "--key", "no.key")

    assert result.exit_code == 1
    assert 'Path "no.pem" not found.' in result.stderr
