"""Documents come in, in two steps: a file is looked at, then added with the columns that were chosen."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated, Any

from anyio import to_thread
from fastapi import APIRouter, HTTPException, Request, Response
from fastapi import Path as InPath
from starlette.datastructures import UploadFile

from riffler.errors import InputError
from riffler.review.intake import Arrival, Mapping, add_upload, arrival_of, preview_upload, read_upload, upload_ending
from riffler.review.store import Review
from riffler.review.upload_limits import Limits
from riffler.web.house import House, Room, Upload
from riffler.web.models import ArrivalOut, ImportIn, MappingOut, PreviewOut
from riffler.web.state import TheDesk, TheHouse, TheLimits, TheRoom

router = APIRouter(tags=["imports"])

Token = Annotated[str, InPath(max_length=100, description="From the preview.")]

A_FORM: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {"file": {"type": "string", "format": "binary"}},
                }
            }
        },
    }
}


@router.post("/imports", status_code=201, openapi_extra=A_FORM)
async def look_at_file(
    request: Request, house: TheHouse, desk: TheDesk, room: TheRoom, limits: TheLimits
) -> PreviewOut:
    """Upload a file (CSV, TSV, XLSX, RIS, PubMed, Parquet, JSON lines) and see what it holds; nothing is added yet."""
    async with request.form(max_files=1, max_fields=1) as form:
        file = form.get("file")
        if not isinstance(file, UploadFile):
            raise HTTPException(400, "The form has no file. Choose one, and send it as the part `file`.")
        return await to_thread.run_sync(_looked_at, file, house, desk.review, room, limits)


@router.post("/imports/{token}")
def add_documents(desk: TheDesk, room: TheRoom, limits: TheLimits, token: Token, given: ImportIn) -> ArrivalOut:
    """Add the documents of an uploaded file, all or none. They get a control sample of their own.

    Ids that the review has are left out; duplicates of its documents are shown with them.
    """
    mapping = Mapping(**given.mapping.model_dump(), positive=tuple(given.positive))
    with room.held(token) as upload:
        collection = read_upload(upload.path, mapping, limits, name=upload.name)
        arrival = add_upload(desk.review, collection, reviewer=desk.name)
    upload.path.unlink(missing_ok=True)
    desk.note_act("imported", source=collection.source, n_new=arrival.n_new)
    return _arrival_out(arrival)


@router.delete("/imports/{token}", status_code=204, response_class=Response)
def drop_file(room: TheRoom, token: Token) -> None:
    """Throw an uploaded file away."""
    room.drop(token)


def _looked_at(file: UploadFile, house: House, review: Review, room: Room, limits: Limits) -> PreviewOut:
    name = file.filename or ""
    with house.folder.passing(upload_ending(name)) as path:
        with path.open("xb") as kept:
            shutil.copyfileobj(file.file, kept)
        preview = preview_upload(path, limits, name=name)
        mapping = MappingOut(**{part: getattr(preview.mapping, part) for part in MappingOut.model_fields})
        arrival, problem = _expected(review, path, preview.mapping, preview.problem, limits, name)
        token = room.add(Upload(path, name))
    return PreviewOut(
        token=token,
        name=preview.name,
        format=preview.format,
        n_rows=preview.n_rows,
        columns=list(preview.columns),
        mapping=mapping,
        sample=[dict(row) for row in preview.sample],
        problem=problem,
        arrival=arrival,
    )


def _expected(
    review: Review, path: Path, mapping: Mapping, problem: str, limits: Limits, name: str
) -> tuple[ArrivalOut | None, str]:
    """Return what an import would bring, or why it cannot be said."""
    if problem:
        return None, problem
    try:
        return _arrival_out(arrival_of(review, read_upload(path, mapping, limits, name=name))), ""
    except InputError as error:
        return None, str(error)


def _arrival_out(arrival: Arrival) -> ArrivalOut:
    return ArrivalOut(
        n_new=arrival.n_new,
        n_known=arrival.n_known,
        n_twins=len(arrival.twins),
        n_repeated=arrival.n_repeated,
        sentence=arrival.sentence,
    )
