"""``riffler review``: read a collection in the browser, the most promising documents first."""

from __future__ import annotations

import sys
import threading
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from riffler.cli import output


def review(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="A collection, or a review that was begun.")],
    file: Annotated[Path | None, typer.Option(help="File of the review (default: beside the source).")] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port of the page.")] = 8765,
    browser: Annotated[bool, typer.Option(help="Open the page in the browser.")] = True,
) -> None:
    """Review a collection in the browser."""
    from riffler.cli.search_sources import Columns, documents_of
    from riffler.data.collection_reading import collection_from_frame
    from riffler.data.duplicates import find_duplicates
    from riffler.review.store import create_review
    from riffler.web.app import make_app
    from riffler.web.serving import Server, free_socket
    from riffler.web.settings import ServerSettings

    console = output.console()
    path = Path(source)
    target = file or (path if path.suffix == ".riffler" else path.with_suffix(".riffler"))
    if not target.exists():
        frame = documents_of(source, Columns())
        assert frame is not None
        collection = collection_from_frame(frame, source=source)
        create_review(target, collection, duplicates=find_duplicates(collection)).close()
    listening = free_socket("127.0.0.1", port)
    settings = ServerSettings(target, port=listening.getsockname()[1], learner=_keeper(target))
    app = make_app(settings)

    def show() -> None:
        address = settings.address(app.state.sessions.invite())
        console.print(f"The review is open at {address}", soft_wrap=True)
        if browser:
            threading.Thread(target=webbrowser.open, args=[address], daemon=True).start()

    def show_again() -> None:
        for _ in sys.stdin:
            console.print(settings.address(app.state.sessions.invite()), soft_wrap=True)

    if sys.stdin.isatty():
        threading.Thread(target=show_again, daemon=True).start()
    Server(app, show).serve_on(listening)


def _keeper(path: Path):  # noqa: ANN202
    try:
        from riffler.review.supervisor import LearnerKeeper

        return LearnerKeeper(path)
    except ImportError:
        return _Thread(path)


class _Thread:
    def __init__(self, path: Path) -> None:
        self.path, self.ends = path, threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def start(self) -> None:
        self.thread.start()

    def stop(self) -> None:
        self.ends.set()
        self.thread.join()

    @property
    def alive(self) -> bool:
        return self.thread.is_alive()

    def run(self) -> None:
        from riffler.review.live import LiveSearch
        from riffler.review.store import open_review

        with open_review(self.path) as review:
            live = LiveSearch(review)
            last = None
            while not self.ends.wait(0.1):
                now = review.last_remark()
                if now != last:
                    live.refresh(20)
                    last = now
