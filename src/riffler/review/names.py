"""Names of people, and when two of them are the same."""

from __future__ import annotations

import unicodedata


def name_key(name: str) -> str:
    """Return what names are compared by: two that differ only in large and small letters are the same.

    >>> name_key(" ÄNNA") == name_key("änna")
    True
    """
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).strip().casefold())
