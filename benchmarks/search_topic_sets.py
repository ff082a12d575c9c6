"""The topics of the search benchmark: news, newsgroups and package descriptions with their topics or tags."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import polars as pl

from riffler import datasets
from riffler.data import Collection, atomic_write, load_collection
from riffler.data.frames import read_csv_texts
from riffler.data.texts import Texts
from riffler.errors import DataFileError
from riffler.evaluation.search_problem import Problem, keyed_order
from riffler.features.clusters import SoftClusters, soft_clusters
from riffler.features.text import TextFeatures
from riffler.records import IntArray, Matrix

VECTORS = "rcv1v2-subsets"  # no texts, only vectors
SHORT = {VECTORS: "RCV1", "reuters21578": "Reuters", "20newsgroups": "20ng", "debian-packages": "Debian"}


@dataclass(frozen=True, slots=True)
class Topic:
    """One topic of a public data set; ``words`` say what is sought."""

    data: str
    name: str
    words: str = ""

    @property
    def group(self) -> str:
        """The data set in a word."""
        return SHORT[self.data]

    @property
    def title(self) -> str:
        """The topic for tables."""
        return f"{self.group} {self.name}"


RCV1 = tuple(Topic(VECTORS, name) for name in ("C17", "C18", "E14", "E31", "E51", "G15"))
# the ten most frequent after the first two, which are half of everything that has a topic
REUTERS = tuple(
    Topic("reuters21578", name, words)
    for name, words in (
        ("money-fx", "Money and foreign exchange."), ("crude", "Crude oil."), ("grain", "Grain."),
        ("trade", "Foreign trade."), ("interest", "Interest rates."), ("wheat", "Wheat."),
        ("ship", "Ships and shipping."), ("corn", "Corn."), ("dlr", "The dollar."), ("oilseed", "Oilseeds."),
    )
)  # fmt: skip
# every second by the alphabet
NEWSGROUPS = tuple(
    Topic("20newsgroups", name, words)
    for name, words in (
        ("alt.atheism", "Atheism."), ("comp.os.ms-windows.misc", "The operating system Microsoft Windows."),
        ("comp.sys.mac.hardware", "Hardware of Mac computers."), ("misc.forsale", "Things for sale."),
        ("rec.motorcycles", "Motorcycles."), ("rec.sport.hockey", "The sport of hockey."),
        ("sci.electronics", "Electronics."), ("sci.space", "Space."), ("talk.politics.guns", "Politics of guns."),
        ("talk.politics.misc", "Politics."),
    )
)  # fmt: skip
DEBIAN = tuple(
    Topic("debian-packages", name, words)
    for name, words in (
        ("section::games", "Games."), ("section::sound", "Sound."), ("use::converting", "Converting data."),
        ("network::server", "Network servers."),
    )
)  # fmt: skip
TOPICS = (*RCV1, *REUTERS, *NEWSGROUPS, *DEBIAN)


def present(topics: Sequence[Topic]) -> list[Topic]:
    """The topics whose data are on this machine; says which data are not."""
    here = set(datasets.present())
    for data in dict.fromkeys(topic.data for topic in topics):
        if data not in here:
            print(f"{data}: left out, as it is not in the folder that RIFFLER_DATA names.")
    return [topic for topic in topics if topic.data in here]


def problem_of(topic: Topic) -> Problem:
    """The search for a topic among all items of its set."""
    collection, features = _whole(topic.data)
    return Problem(topic.title, collection, _relevant(collection, topic), features)


def part_of(topic: Topic, n_items: int) -> Problem:
    """The search for a topic among a random part of its set, the same for every topic."""
    collection, features = _part(topic.data, n_items)
    return Problem(topic.title, collection, _relevant(collection, topic), features)


def relevant_start(problem: Problem, seed: int, n: int) -> list[int]:
    """Relevant items to start from, drawn by the seed, never one without any features."""
    order = keyed_order(problem.collection.ids, f"{seed}/prior")
    filled = np.diff(problem.features.indptr)[order] > 0
    return [int(row) for row in order[filled & (problem.labels[order] == 1)][:n]]


def clusters_of(data: str, method: str, folder: Path) -> SoftClusters:
    """Soft clusters of a set, made once and kept in a folder."""
    from scipy import sparse

    path = folder / f"{data}-{method}.npz"
    if not path.exists():
        print(f"{data}: soft clusters ({method})", flush=True)
        folder.mkdir(parents=True, exist_ok=True)
        made = soft_clusters(_whole(data)[1], method=method)
        with atomic_write(path) as draft, draft.open("wb") as sink:
            sparse.save_npz(sink, made.memberships)
    return SoftClusters(sparse.csr_matrix(sparse.load_npz(path)), method)


def _relevant(collection: Collection, topic: Topic) -> IntArray:
    labels = collection.with_topic(topic.name, "labels").labels
    if labels is None:
        raise DataFileError(f"{topic.data} has no topics.")
    return labels


@lru_cache(maxsize=1)
def _whole(data: str) -> tuple[Collection, Matrix]:
    if data == VECTORS:
        return _vectors()
    collection = load_collection(data)
    return collection, _features(collection)


@lru_cache(maxsize=1)
def _part(data: str, n_items: int) -> tuple[Collection, Matrix]:
    whole = load_collection(data)
    collection = whole.take(np.sort(keyed_order(whole.ids, "part")[:n_items]))
    return collection, _features(collection)


def _features(collection: Collection) -> Matrix:
    return TextFeatures(ngram_range=(1, 1), max_df=0.95).fit_transform(collection.texts)


def _vectors() -> tuple[Collection, Matrix]:
    """Vectors as given, and the topics of the file beside them, whose order must be the same."""
    table = datasets.load(VECTORS, positive="C17")
    frame = read_csv_texts(datasets.path(VECTORS) / "topics.csv.xz")
    blank = Texts(pl.Series([""], dtype=pl.String).new_from_index(0, frame.height))
    collection = Collection(tuple(frame["id"].to_list()), blank, blank, None, frame, VECTORS)
    told = _relevant(collection, Topic(VECTORS, "C17"))
    if table.y is None or not np.array_equal(told, table.y):
        raise DataFileError(f"{VECTORS}: topics.csv.xz and vectors.svm.xz do not tell the same topics row by row.")
    return collection, table.X
