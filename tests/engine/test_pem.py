"""The file for TLS that cannot be used is named, and nobody is asked for a pass phrase."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from riffler.engine import TlsFiles
from riffler.errors import InputError

distributed: Any = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two certificates that sign themselves, their keys (one of them encrypted too), and files that are neither."""
    folder = tmp_path_factory.mktemp("pem")
    for name in ("me", "other"):
        made = distributed.Security.temporary()
        (folder / f"{name}.pem").write_text(made.tls_client_cert)
        (folder / f"{name}.key").write_text(made.tls_client_key)
    (folder / "encrypted.key").write_bytes(encrypted((folder / "me.key").read_bytes()))
    (folder / "words.pem").write_text("words\n")
    (folder / "empty.pem").write_text("")
    return folder


def encrypted(key: bytes) -> bytes:
    from cryptography.hazmat.primitives import serialization

    return serialization.load_pem_private_key(key, None).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.BestAvailableEncryption(b"x")
    )


@pytest.mark.parametrize(
    ("ca", "cert", "key", "words"),
    [
        ("words.pem", "me.pem", "me.key", r"ca must be .*words\.pem': it has no certificate"),
        ("empty.pem", "me.pem", "me.key", r"ca must be .*empty\.pem': it has no certificate"),
        ("me.pem", "words.pem", "me.key", r"cert must be .*words\.pem': it has no certificate"),
        ("me.pem", "me.key", "me.pem", r"cert must be .*me\.key': it has no certificate"),
        ("me.pem", "me.pem", "words.pem", r"key must be .*words\.pem': it has no key that can be used .*no PEM key"),
        ("me.pem", "me.pem", "other.key", r"key must be .*other\.key': it is not the key of .*me\.pem'"),
        ("me.pem", "me.pem", "encrypted.key", r"key must be .*encrypted\.key': it is encrypted.*Decrypt it"),
        ("me.pem", "me.pem", "none", r"key must be .*none': no such file"),
    ],
)
def test_the_file_that_is_wrong_is_named(ca: str, cert: str, key: str, words: str, folder: Path) -> None:
    with pytest.raises(InputError, match=words):
        TlsFiles(folder / ca, folder / cert, folder / key)


def test_files_that_fit_are_taken(folder: Path) -> None:
    assert TlsFiles(folder / "me.pem", folder / "me.pem", folder / "me.key").cert == folder / "me.pem"
