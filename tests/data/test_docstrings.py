"""The collection that every machine has."""

from __future__ import annotations

from pathlib import Path

import pytest

from riffler import DataSetMissing, InputError
from riffler.data import docstrings as module
from riffler.data.docstrings import docstrings


def test_items_have_names_texts_and_topics() -> None:
    items = docstrings()
    assert 2000 < items.n_items <= module.MOST_ITEMS
    assert len(set(items.ids)) == items.n_items
    stats = items.with_topic("scipy.stats", "topic")
    assert stats.labels is not None
    assert 50 < int(stats.labels.sum()) < items.n_items // 4
    assert min(map(len, items.abstracts)) >= module.LEAST_CHARACTERS


def test_files_that_cannot_be_parsed_are_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long = "word " * 20
    (tmp_path / "good.py").write_text(f'def kept():\n    """{long}"""\n\n\ndef short():\n    """No."""\n')
    (tmp_path / "odd.py").write_text(f'print "{long}" """\n')
    (tmp_path / "latin.py").write_bytes(b'"""\xff"""')
    monkeypatch.setattr(module, "_homes", lambda: [(tmp_path, "")])
    items = docstrings()
    assert list(items.titles) == ["kept"]
    assert items.columns["topic"].to_list() == ["good"]
    monkeypatch.setattr(module, "_homes", lambda: [])
    with pytest.raises(DataSetMissing, match="no source files"):
        docstrings()
    with pytest.raises(InputError, match="most must be at least 1, got 0"):
        docstrings(most=0)
