"""A program that reviews: a typed client of the API in thirty lines, and a rule that stands in for a person."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen
from uuid import uuid4

import polars as pl

from riffler.data.collection_reading import collection_from_frame
from riffler.review.creating import create_review


@dataclass(frozen=True)
class ReviewClient:
    """A review at an address such as http://127.0.0.1:8765, with a token from its settings page."""

    address: str
    token: str

    def next(self, n: int = 1) -> list[dict[str, Any]]:
        """Documents to read next, each with the suggestion that it came from."""
        found: list[dict[str, Any]] = self._call("GET", f"/next?n={n}")
        return found

    def answer(self, suggested: dict[str, Any], verdict: str) -> dict[str, int]:
        """Say "relevant", "irrelevant", "maybe" or "skip"; returns the counts. It is on the disk when this returns."""
        document = suggested["document"]["id"]
        told = {"document": document, "verdict": verdict, "suggestion": suggested["suggestion"], "key": str(uuid4())}
        counts: dict[str, int] = self._call("POST", "/answers", {"answers": [told]})["counts"]
        return counts

    def progress(self) -> dict[str, Any]:
        """What was found, and whether to go on."""
        found: dict[str, Any] = self._call("GET", "/progress")
        return found

    def _call(self, method: str, path: str, body: object = None) -> Any:  # noqa: ANN401 - whatever JSON holds
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        with urlopen(Request(f"{self.address}/api/v1{path}", data, headers, method=method), timeout=60) as reply:
            return json.load(reply)


def main() -> None:
    titles = [f"{'whale song' if row % 5 == 0 else 'bond market'} {row}" for row in range(60)]
    file = Path(tempfile.mkdtemp()) / "papers.riffler"
    frame = pl.DataFrame({"id": [f"d{row}" for row in range(60)], "title": titles})
    with create_review(file, collection_from_frame(frame)) as review:
        token = review.make_token("example")[1]  # or on the settings page

    command = [sys.executable, "-c", "from riffler.cli import main; main()", "review", str(file), "--no-browser"]
    with subprocess.Popen([*command, "--port", "0"], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        address = next(line for line in server.stdout if "http" in line).split()[-1].partition("/?")[0]
        client, counts = ReviewClient(address, token), {"relevant": 0, "irrelevant": 0}
        while counts["relevant"] < 12:
            for suggested in client.next():
                is_relevant = "whale" in suggested["document"]["title"]
                counts = client.answer(suggested, "relevant" if is_relevant else "irrelevant")
        print(f"found {counts['relevant']} after reading {counts['relevant'] + counts['irrelevant']} of 60")
        while client.progress()["behind"]:  # answers that the learner has not taken in yet
            time.sleep(0.1)
        print(client.progress()["sentence"])
        server.terminate()


if __name__ == "__main__":
    main()
