"""Mangled files: each is read, or refused in words; nothing else happens, and nothing is left behind."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from riffler import InputError
from riffler.data.collection import Collection
from riffler.review.export import FORMATS, write_export
from riffler.review.intake import Limits, add_upload, preview_upload, read_upload, upload_ending
from riffler.review.store import Review
from tests.review.mangled import HARMS, mangled
from tests.review.reviews import new_review

LIMITS = Limits(n_bytes=20_000_000, n_unpacked=50_000_000)
N_QUICK, N_SOAK = 100, 1000


@pytest.fixture
def review(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Review]:
    with new_review(tmp_path_factory.mktemp("review"), n=5) as opened:
        yield opened


def come(folder: Path, seed: int) -> Collection | None:
    """Let one file come as an upload does; returns what was read, None where it was refused."""
    file = mangled(seed)
    try:
        path = folder / f"upload{upload_ending(file.name)}"
        path.write_bytes(file.data)
        preview = preview_upload(path, LIMITS, name=file.name)
        assert len(preview.sample) == min(5, preview.n_rows)
        if preview.problem:
            assert_in_words(preview.problem, folder)
            return None
        return read_upload(path, preview.mapping, LIMITS, name=file.name)
    except InputError as error:
        assert_in_words(str(error), folder)
        return None


def assert_in_words(message: str, folder: Path) -> None:
    assert len(message) > 20
    assert str(folder) not in message
    assert "\x00" not in message
    assert message.isprintable() or "\n" in message


def one_case(folder: Path, review: Review, seed: int) -> bool:
    """Return whether the file was read; then it must also stand in a review, and go out of it again."""
    inside = folder / "a" / "b"
    inside.mkdir(parents=True, exist_ok=True)
    read = come(inside, seed)
    for path in inside.glob("upload*"):
        path.unlink()
    assert [path.name for path in folder.rglob("*")] == ["a", "b"]
    if read is None or read.n_items > 1000:
        return read is not None
    before = review.counts()
    try:
        add_upload(review, read)
    except InputError as error:
        assert_in_words(str(error), folder)
        assert review.counts() == before
    if seed % 10 == 0:
        format = list(FORMATS)[seed // 10 % len(FORMATS)]
        write_export(review, folder / f"out{FORMATS[format].ending}", format)
        (folder / f"out{FORMATS[format].ending}").unlink()
    return True


@pytest.mark.parametrize("block", range(5))
def test_mangled_files_are_read_or_refused_in_words(tmp_path: Path, review: Review, block: int) -> None:
    size = N_QUICK // 5
    read = [one_case(tmp_path, review, seed) for seed in range(block * size, (block + 1) * size)]
    assert 0 < sum(read) < size
    assert peak_gigabytes() < 4


def test_every_harm_is_among_the_quick_cases() -> None:
    assert {mangled(seed).how.split()[1] for seed in range(N_QUICK)} == {harm.__name__ for harm in HARMS}


@pytest.mark.soak
@pytest.mark.parametrize("block", range(10))
def test_many_mangled_files(tmp_path: Path, review: Review, block: int) -> None:
    size = N_SOAK // 10
    first = N_QUICK + block * size
    read = [one_case(tmp_path, review, seed) for seed in range(first, first + size)]
    assert 0 < sum(read) < size


def peak_gigabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
