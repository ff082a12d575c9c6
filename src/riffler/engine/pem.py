"""PEM files for TLS: which of them cannot be used is said before anybody is called."""

from __future__ import annotations

import ssl
from pathlib import Path

from riffler.errors import InputError


def check_pem(ca: str | Path, cert: str | Path, key: str | Path) -> None:
    """Raise where one of the three files cannot be read or used, or the key is of another certificate."""
    for name, path in (("ca", ca), ("cert", cert), ("key", key)):
        if not Path(path).is_file():
            raise _wrong(name, path, "no such file")
    _check_certificate("ca", ca)
    _check_certificate("cert", cert)
    _check_key(cert, key)


def _check_certificate(name: str, path: str | Path) -> None:
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cafile=str(path))
    except ssl.SSLError as error:
        raise _wrong(name, path, "it has no certificate that can be read") from error
    except OSError as error:
        raise _wrong(name, path, error.strerror or str(error)) from error


def _check_key(cert: str | Path, key: str | Path) -> None:
    def passphrase() -> str:  # OpenSSL would ask for it on the terminal
        raise _wrong("key", key, "it is encrypted, and nobody is there to be asked for its pass phrase. Decrypt it")

    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_cert_chain(str(cert), str(key), password=passphrase)
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            raise _wrong("key", key, f"it is not the key of the certificate {str(cert)!r}") from error
        why = f"it has no key that can be used with the certificate {str(cert)!r} ({error.reason or 'no PEM key'})"
        raise _wrong("key", key, why) from error
    except OSError as error:
        raise _wrong("key", key, error.strerror or str(error)) from error


def _wrong(name: str, path: str | Path, why: str) -> InputError:
    return InputError(f"{name} must be a PEM file for TLS, got {str(path)!r}: {why}.")
