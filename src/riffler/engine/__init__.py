"""Where the heavy steps run: on the cores of this machine."""

from __future__ import annotations

from riffler.engine.local import Best, LocalEngine

__all__ = ["Best", "LocalEngine"]
