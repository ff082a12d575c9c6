"""The JavaScript that draws charts: vl-convert's bundle of Vega, made once and kept in the user's cache folder."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from threading import Lock

VEGA_LITE = "6.4"
"""The version of Vega-Lite that Altair's specifications are written for."""

_making = Lock()


def vega_script() -> Path:
    """Return the file of the bundle; made on first use, which takes about two seconds.

    It is keyed by the versions in it, so that another version of vl-convert makes its own.
    """
    import vl_convert

    from riffler.data.atomic import atomic_write

    versions = f"{VEGA_LITE}-{vl_convert.get_vega_version()}-{vl_convert.get_vega_embed_version()}"
    target = cache_folder() / f"vega-{versions}.js"
    with _making:
        if not target.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            with atomic_write(target) as draft:
                draft.write_text(
                    vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", VEGA_LITE), encoding="utf-8"
                )
    return target


def cache_folder() -> Path:
    """Return the folder for what can be made again: the system's own, unless XDG_CACHE_HOME names another."""
    if given := os.environ.get("XDG_CACHE_HOME"):
        return Path(given) / "riffler"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "riffler"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "riffler"
    return Path.home() / ".cache" / "riffler"
