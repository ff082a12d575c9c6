"""The description of the API for programs, with what every operation answers when something is wrong."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from riffler.web.models import ErrorOut

WRONG = {
    400: "What was given cannot be used.",
    401: "The token is not known, or there is none.",
    403: "The request came from another page or for another host, or needs another role.",
    404: "There is no such thing.",
    409: "It does not fit what holds now; nothing was written.",
    413: "The body is too large.",
    415: "The body has another type.",
    422: "The request is not as described.",
    429: "Too many wrong tokens.",
    500: "A fault of Riffler.",
    503: "The review is busy or cannot be written.",
    507: "The disk is full; nothing was written.",
}
SCHEMAS = "#/components/schemas/"
UNUSED = ("HTTPValidationError", "ValidationError")  # FastAPI's own words for 422, which no operation answers with


def describe(app: FastAPI) -> dict[str, Any]:
    """Return the description of an app, made at the first call.

    The errors are added to the finished text: declared with the routes, FastAPI would make a validator for each error
    of each route, which took two thirds of the time in which an app is made.
    """
    if app.openapi_schema is None:
        made = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
        operations = [one for ways in made["paths"].values() for one in ways.values()]
        for operation in operations:
            operation["responses"].update(_errors())
        schemas = {name: one for name, one in made["components"]["schemas"].items() if name not in UNUSED}
        made["components"]["schemas"] = dict(sorted({**schemas, **_error_schemas()}.items()))
        app.openapi_schema = made
    return app.openapi_schema


def _errors() -> dict[str, Any]:
    schema = {"$ref": f"{SCHEMAS}{ErrorOut.__name__}"}
    return {
        str(status): {"description": words, "content": {"application/json": {"schema": schema}}}
        for status, words in WRONG.items()
    }


def _error_schemas() -> dict[str, Any]:
    made = ErrorOut.model_json_schema(ref_template=SCHEMAS + "{model}")
    inner: dict[str, Any] = made.pop("$defs")
    return {**inner, ErrorOut.__name__: made}
