"""TLS by certificate files."""

from __future__ import annotations

import ssl
import subprocess
from pathlib import Path

import httpx
import pytest

from mason.api.server.serve import listen
from mason.api.server.settings import ServerSettings
from mason.errors import BadInput
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


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        (("key.pem", "certificate.pem"), "they must be a certificate and its key"),
        (("certificate.pem", "other.pem"), "the key is that of another certificate"),
        (("certificate.pem", "locked.pem"), "the key without a password"),
        (("empty.pem", "key.pem"), "they must be a certificate and its key"),
    ],
    ids=["exchanged", "of another", "with a password", "empty"],
)
def test_files_that_are_no_certificate_with_its_key_are_named(
    certificate: tuple[Path, Path], files: tuple[str, str], reason: str
) -> None:
    folder = certificate[0].parent
    new_key = ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    subprocess.run([*new_key, "-out", str(folder / "other.pem")], check=True, capture_output=True)
    lock = ["openssl", "pkey", "-in", str(certificate[1]), "-aes128", "-passout", "pass:secret"]
    subprocess.run([*lock, "-out", str(folder / "locked.pem")], check=True, capture_output=True)
    (folder / "empty.pem").touch()
    chosen, key = (str(folder / name) for name in files)

    with pytest.raises(BadInput) as raised:
        listen(ServerSettings(port=0, certificate=chosen, key=key))

    assert str(raised.value).startswith(f"{chosen} and {key} are no files for TLS: ")
    assert reason in str(raised.value)
