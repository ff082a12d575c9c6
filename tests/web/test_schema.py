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

from riffler.web.settings import TeamSettings
from riffler.web.team_app import make_team_app
from tests.web.teams import TeamServer
from tests.web.visits import API, serving

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
    """Let schemathesis loose on the server of one reader."""
    with serving(file) as (app, client):
        secret = [app.state.review.make_token("fuzz")[1] for _ in range(N_TOKENS)][-1]
        bearer = {"Authorization": f"Bearer {secret}"}
        return attacked(folder, app.openapi(), str(client.base_url).rstrip("/"), bearer, n_examples)


def attacked(
    folder: Path, description: dict[str, Any], address: str, headers: dict[str, str], n_examples: int
) -> subprocess.CompletedProcess[str]:
    """Let schemathesis loose on what a description has, as somebody who was let in."""
    let_in = [part for name, value in headers.items() for part in ("-H", f"{name}: {value}")]
    (folder / "openapi.json").write_text(json.dumps(with_known_ids(description)), encoding="utf-8")
    command = [
        sys.executable, "-m", "schemathesis.cli", "run", "openapi.json", "--url", address,
        *let_in, "--checks", CHECKS, "--phases", "coverage,fuzzing",
        "--max-examples", str(n_examples), "--generation-deterministic", "--suppress-health-check", "all",
        "--warnings", "off", "--no-color", "--no-shrink",
    ]  # fmt: skip
    quiet = {**os.environ, "PYTHONWARNINGS": "ignore"}
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=quiet)


def in_one_review(description: dict[str, Any], identity: str) -> dict[str, Any]:
    """Return the description of a team's server with one review in it, for a browser, and without the way out."""
    paths = {}
    for path, ways in description["paths"].items():
        for one in ways.values():
            one.pop("security")  # it is of keys
            one["parameters"] = [given for given in one.get("parameters", []) if given["name"] != "review"]
        paths[path.replace("{review}", identity)] = ways
    return {**description, "paths": {path: ways for path, ways in paths.items() if path != f"{API}/logout"}}


def test_no_request_breaks_the_server_or_its_description(file: Path, tmp_path: Path) -> None:
    done = attack(tmp_path, file, n_examples=3)
    assert done.returncode == 0, done.stdout[-5000:]


def test_every_operation_of_a_team_is_described() -> None:
    found = operations(make_team_app(TeamSettings("none.riffler")))
    assert len(found) > 50
    for one in found:
        assert one["summary"]
        assert one["description"]
        assert one["tags"]
        assert {"401", "403", "404", "429", "503"} <= set(one["responses"])


def test_no_request_breaks_the_server_of_a_team_or_its_description(server: TeamServer, tmp_path: Path) -> None:
    # ada is an admin, and an owner whose number is not among the first: whoever is removed or closed, it is not ada
    server.people.add_member(server.team.review.id, server.account("ada").id, "owner", None)
    ada = server.log_in("ada")
    cookie = "; ".join(f"{name}={value}" for name, value in ada.client.cookies.items())
    description = in_one_review(server.app.openapi(), server.team.review.identity)
    done = attacked(tmp_path, description, server.address, {**ada.guards, "cookie": cookie}, n_examples=1)
    assert done.returncode == 0, done.stdout[-5000:]
    assert ada.at(API).get("/me").status_code == 200  # and was let in until the end


@pytest.mark.soak
def test_no_request_of_many_breaks_the_server_or_its_description(file: Path, tmp_path: Path) -> None:
    done = attack(tmp_path, file, n_examples=200)
    assert done.returncode == 0, done.stdout[-5000:]
