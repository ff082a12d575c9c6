"""The API is as its description says: schemathesis looks for requests that break it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

from tests.web.visits import serving

CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,"
    "response_schema_conformance,negative_data_rejection"
)
N_TOKENS = 200  # some are revoked on the way; the last is the one that is used


def operations(app: FastAPI) -> list[dict[str, Any]]:
    return [one for ways in app.openapi()["paths"].values() for one in ways.values()]


def test_every_operation_is_described(file: Path) -> None:
    with serving(file) as (app, _):
        found = operations(app)
        assert len(found) > 25
        for one in found:
            assert one["summary"]
            assert one["description"]
            assert one["tags"]
            assert {"401", "403", "429", "507"} <= set(one["responses"])
            assert one["security"] == [{"token": []}]


def with_known_ids(schema: object) -> object:
    """Let document ids be those of the review, so that requests reach what lies behind the first check."""
    if isinstance(schema, list):
        return [with_known_ids(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if str(schema.get("description", "")).startswith("Id of a document"):
        return {"type": "string", "enum": [f"d{row}" for row in range(8)]}
    return {name: with_known_ids(value) for name, value in schema.items()}


def attack(folder: Path, file: Path, n_examples: int) -> subprocess.CompletedProcess[str]:
    """Let schemathesis loose on a server."""
    with serving(file) as (app, client):
        secret = [app.state.review.make_token("fuzz")[1] for _ in range(N_TOKENS)][-1]
        (folder / "openapi.json").write_text(json.dumps(with_known_ids(app.openapi())), encoding="utf-8")
        command = [
            sys.executable, "-m", "schemathesis.cli", "run", "openapi.json", "--url", str(client.base_url).rstrip("/"),
            "-H", f"Authorization: Bearer {secret}", "--checks", CHECKS, "--phases", "coverage,fuzzing",
            "--max-examples", str(n_examples), "--generation-deterministic", "--suppress-health-check", "all",
            "--warnings", "off", "--no-color", "--no-shrink",
        ]  # fmt: skip
        quiet = {**os.environ, "PYTHONWARNINGS": "ignore"}
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=quiet)


def test_no_request_breaks_the_server_or_its_description(file: Path, tmp_path: Path) -> None:
    done = attack(tmp_path, file, n_examples=3)
    assert done.returncode == 0, done.stdout[-5000:]


@pytest.mark.soak
def test_no_request_of_many_breaks_the_server_or_its_description(file: Path, tmp_path: Path) -> None:
    done = attack(tmp_path, file, n_examples=200)
    assert done.returncode == 0, done.stdout[-5000:]
