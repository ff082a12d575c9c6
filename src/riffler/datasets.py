"""Public data sets by name: ``riffler.datasets.load("a9a")``.

The files are looked for in the folder that the environment variable RIFFLER_DATA (or ``folder=``) names.
"""

from __future__ import annotations

from riffler.data.known import Dataset, Part
from riffler.data.public import info, load, load_documents, missing, names, path, present

__all__ = ["Dataset", "Part", "info", "load", "load_documents", "missing", "names", "path", "present"]
