"""Options of commands that do heavy work on a collection on disk: where that runs, and with which certificates."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from riffler.errors import InputError

if TYPE_CHECKING:
    from riffler.engine import TlsFiles

EngineName = Annotated[
    str,
    typer.Option(
        "--engine",
        metavar="ENGINE",
        help="For a collection on disk: local (threads), dask (processes of this machine) or dask://host:port.",
    ),
]
TlsCa = Annotated[
    Path | None, typer.Option("--tls-ca", help="With dask://: the authority that signed the certificates (PEM).")
]
TlsCert = Annotated[Path | None, typer.Option("--tls-cert", help="With dask://: the certificate of this side (PEM).")]
TlsKey = Annotated[Path | None, typer.Option("--tls-key", help="With dask://: the key of that certificate (PEM).")]


@dataclass(frozen=True, slots=True)
class EngineChoice:
    """The engine that was asked for; it is known that there can be such a one."""

    name: str
    tls: TlsFiles | None

    @property
    def is_default(self) -> bool:
        """Whether nothing was said."""
        return self.name == "local"

    def check_for_file(self, source: str) -> None:
        """Refuse an engine for what is no collection on disk."""
        if not self.is_default:
            raise InputError(
                f"--engine {self.name} is for a collection on disk, and {source} is none. Make one with "
                f"`riffler index {source} --out FOLDER`, and name that."
            )

    def arguments(self) -> list[str]:
        """The options that say the same, for another process; none where nothing was said."""
        if self.is_default:
            return []
        files = [] if self.tls is None else [("--tls-ca", self.tls.ca), ("--tls-cert", self.tls.cert)]
        files += [] if self.tls is None else [("--tls-key", self.tls.key)]
        return ["--engine", self.name, *(part for option, path in files for part in (option, str(path)))]


def chosen_engine(name: str, ca: Path | None, cert: Path | None, key: Path | None) -> EngineChoice:
    """Check what was said of the engine, before anything is done."""
    from riffler.engine import TlsFiles, check_engine

    tls = None
    if ca is not None or cert is not None or key is not None:
        if ca is None or cert is None or key is None:
            raise InputError("TLS needs three files: --tls-ca, --tls-cert and --tls-key. Name all of them, or none.")
        if not name.startswith("dask://"):
            raise InputError(f"--tls-ca, --tls-cert and --tls-key are for --engine dask://host:port, got {name!r}.")
        tls = TlsFiles(ca, cert, key)
    check_engine(name, tls)
    return EngineChoice(name, tls)
