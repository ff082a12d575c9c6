"""Text features against scikit-learn's TfidfVectorizer: time in one thread, and memory of 100,000 abstracts in all.

    RIFFLER_DATA=<folder> python benchmarks/text_features.py [--texts N] [--repeats R] [--abstracts N]

Each time and each peak of memory is taken in a process of its own, ours and the peer's in turn, with the same settings.
Texts of the time are Debian package descriptions, of the memory screening abstracts, repeated with words of their own
until there are as many as wanted. Memory is the largest resident size of the whole process: Python, its packages, the
texts (read from a file a line at a time, or held in a list) and the rows.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

SETTINGS: dict[str, dict[str, Any]] = {
    "words": {"ngram_range": (1, 1), "min_df": 1},
    "words, stop words": {"ngram_range": (1, 1), "min_df": 1, "stop_words": "english"},
    "words and pairs": {"ngram_range": (1, 2), "min_df": 1},
    "words and pairs in two texts": {"ngram_range": (1, 2), "min_df": 2},
}
SCREENING = (
    "clef-tar-2017",
    "cohen2006",
    "screening-proton-beam",
    "screening-nagtegaal2019",
    "screening-bannach-brown2019",
    "screening-kitchenham2010",
)
ONE_THREAD = {
    "POLARS_MAX_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
}


def data_folder() -> Path:
    return Path(os.environ["RIFFLER_DATA"])


def read_texts(name: str, columns: tuple[str, str]) -> list[str]:
    import polars as pl

    with lzma.open(data_folder() / name / "documents.csv.xz") as file:
        frame = pl.read_csv(file.read(), infer_schema=False, columns=list(columns))
    return (frame[columns[0]].fill_null("") + "\n" + frame[columns[1]].fill_null("")).to_list()


def write_abstracts(path: Path, n_texts: int) -> None:
    """One text a line: records with an abstract, and copies in which one word in twenty is new.

    Copies alone would have the vocabulary of the records; a growing collection goes on finding new words.
    """
    import numpy as np

    records = [text.replace("\n", " ") for name in SCREENING for text in read_texts(name, ("title", "abstract"))]
    records = [text for text in dict.fromkeys(records) if len(text) > 500]
    rng = np.random.default_rng(0)
    with path.open("w", encoding="utf-8") as file:
        for i in range(n_texts):
            words = records[i % len(records)].split(" ")
            if i >= len(records):
                for place in rng.integers(len(words), size=len(words) // 20):
                    words[place] = f"new{int(rng.zipf(1.3)) % 10**6}"
            file.write(" ".join(words) + "\n")


def make(side: str, settings: dict[str, Any]) -> Any:  # noqa: ANN401 - ours or the peer's
    if side == "riffler":
        from riffler import TextFeatures

        return TextFeatures(**{"stop_words": None, **settings})
    import numpy as np
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(sublinear_tf=True, dtype=np.float32, **settings)


def time_once(side: str, setting: str, n_texts: int, repeats: int) -> dict[str, Any]:
    """Least time of some runs after a first one on few texts, which loads what is compiled."""
    texts = read_texts("debian-packages", ("title", "text"))[:n_texts]
    make(side, SETTINGS[setting]).fit_transform(texts[:500])
    walls, cpus, shape, n_entries = [], [], None, 0
    for _ in range(repeats):
        wall, cpu = perf_counter(), process_time()
        X = make(side, SETTINGS[setting]).fit_transform(texts)
        walls.append(perf_counter() - wall)
        cpus.append(process_time() - cpu)
        shape, n_entries = X.shape, X.nnz
    return {"wall": min(walls), "cpu": min(cpus), "shape": shape, "n_entries": n_entries, "n_texts": len(texts)}


def peak_once(side: str, setting: str, path: Path, source: str) -> dict[str, Any]:
    """Largest resident size in MB after the rows of all texts were made."""

    def lines() -> Iterator[str]:
        with path.open(encoding="utf-8") as file:
            yield from file

    texts = list(lines()) if source == "list" else lines()
    features = make(side, SETTINGS[setting])
    before = _peak_mb()
    X = features.fit_transform(texts)
    rows = (X.data.nbytes + X.indices.nbytes + X.indptr.nbytes) / 1e6
    return {"peak": _peak_mb(), "before": before, "rows": rows, "per_text": X.nnz / X.shape[0], "shape": X.shape}


def _peak_mb() -> float:
    """From the system's own page: what getrusage tells of a started process begins with the size of its parent."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith("VmHWM"))


def in_own_process(task: list[str], threads: dict[str, str]) -> dict[str, Any]:
    command = [sys.executable, __file__, "--task", json.dumps(task)]
    done = subprocess.run(command, env={**os.environ, **threads}, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def report_time(n_texts: int, repeats: int) -> None:
    print(f"\nTime: Debian descriptions, least of {repeats} runs, seconds\n")
    print("| settings | threads | texts | columns | entries | riffler | scikit-learn | ratio |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for setting in SETTINGS:
        for title, threads in (("one", ONE_THREAD), ("default", {})):
            task = [setting, str(n_texts), str(repeats)]
            ours, theirs = (in_own_process(["time", side, *task], threads) for side in ("riffler", "scikit-learn"))
            ratio = theirs["wall"] / ours["wall"]
            size = f"{ours['n_texts']:,} | {ours['shape'][1]:,} | {ours['n_entries']:,}"
            print(
                f"| {setting} | {title} | {size} | {ours['wall']:.2f} | {theirs['wall']:.2f} | {ratio:.1f} |",
                flush=True,
            )


def report_memory(n_texts: int) -> None:
    print(
        f"\nMemory: {n_texts:,} abstracts, largest resident size of the process in MB (before = packages and texts)\n"
    )
    print("| settings | side | texts from | terms a text | rows alone | before | peak |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "abstracts.txt"
        write_abstracts(path, n_texts)
        cases = [("riffler", setting, source) for setting in SETTINGS for source in ("file", "list")]
        cases += [("scikit-learn", "words", "file"), ("scikit-learn", "words, stop words", "list")]
        for side, setting, source in cases:
            found = in_own_process(["peak", side, setting, str(path), source], ONE_THREAD)
            numbers = " | ".join(f"{found[name]:.0f}" for name in ("per_text", "rows", "before", "peak"))
            print(f"| {setting} | {side} | {source} | {numbers} |", flush=True)


def run_task(kind: str, side: str, setting: str, *rest: str) -> dict[str, Any]:
    if kind == "time":
        return time_once(side, setting, int(rest[0]), int(rest[1]))
    return peak_once(side, setting, Path(rest[0]), rest[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=100_000, help="at most this many Debian descriptions")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--abstracts", type=int, default=100_000)
    parser.add_argument("--task", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.task:
        print(json.dumps(run_task(*json.loads(chosen.task))))
        return
    import polars
    import sklearn

    print(f"python {platform.python_version()}, polars {polars.__version__}, scikit-learn {sklearn.__version__}, "
          f"{platform.machine()}, {os.cpu_count()} cores; python {' '.join(sys.argv)}")  # fmt: skip
    report_time(chosen.texts, chosen.repeats)
    report_memory(chosen.abstracts)


if __name__ == "__main__":
    main()
