"""The JavaScript that draws charts: vl-convert's bundle of Vega, made once and kept in the user's cache folder."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from threading import Lock

VEGA_LITE = "6.4"
"""The version of Vega-Lite that Altair's specifications are written for."""

_making = Lock()


def vega_script() -> bytes:
    """Return the bundle; made on the first use on a machine, which takes about two seconds."""
    with _making:  # several charts may ask at once
        return _kept_script()


@cache
def _kept_script() -> bytes:
    """Read the bundle from the cache folder, or make it; the file is keyed by the versions that are in it."""
    import vl_convert

    from riffler.data.atomic import atomic_write

    versions = f"{VEGA_LITE}-{vl_convert.get_vega_version()}-{vl_convert.get_vega_embed_version()}"
    target = cache_folder() / f"vega-{versions}.js"
    if target.is_file():
        return target.read_bytes()
    script: bytes = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", VEGA_LITE).encode()
    with suppress(OSError):  # without a place to keep it the next server makes it again
        target.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(target) as draft:
            draft.write_bytes(script)
    return script


def cache_folder() -> Path:
    """Return the folder for what can be made again: the system's own, unless XDG_CACHE_HOME names another."""
    if given := os.environ.get("XDG_CACHE_HOME"):
        return Path(given) / "riffler"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "riffler"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "riffler"
    return Path.home() / ".cache" / "riffler"
