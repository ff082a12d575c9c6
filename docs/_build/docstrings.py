"""Docstrings as they are in the source, turned into what the reference page can typeset.

A session (``>>> ...``) becomes an Examples section, Sphinx roles become plain code, and of a module's docstring the
first paragraph is kept: the rest, often drawn in plain text, is for readers of the source.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

HEADER = "Examples\n--------\n"


def typeset(docstring: str) -> str:
    """Put the first session of a docstring, and all after it, under a heading of its own.

    >>> typeset("Add one.\\n\\n>>> add(1)\\n2").splitlines()
    ['Add one.', '', 'Examples', '--------', '>>> add(1)', '2']
    """
    plain = re.sub(r":(?:func|class|meth|mod|data):`~?", "`", docstring).replace("``", "`")
    if HEADER in plain:
        return plain
    return re.sub(r"^(?=>>> )", HEADER, plain, count=1, flags=re.MULTILINE)


class Docstrings(griffe.Extension):
    """Rewrites every docstring when griffe has read it."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:  # noqa: ANN401 - griffe's signature
        """Rewrite the docstring of one object."""
        if obj.docstring is None:
            return
        text = obj.docstring.value
        obj.docstring.value = text.split("\n\n")[0] if obj.is_module else typeset(text)
