"""The clock of the database, which all servers share, as a column: so it takes no question of its own."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Double
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.expression import ColumnElement, FunctionElement


class _Clock(FunctionElement[float]):
    """Seconds since 1970 at the moment when the database answers."""

    type = Double()
    inherit_cache = True
    name = "clock"


@compiles(_Clock, "postgresql")
def _of_postgres(element: _Clock, compiler: Any, **options: Any) -> str:  # noqa: ANN401 - as SQLAlchemy calls it
    return "extract(epoch FROM clock_timestamp())::double precision"


@compiles(_Clock, "sqlite")
def _of_sqlite(element: _Clock, compiler: Any, **options: Any) -> str:  # noqa: ANN401
    return "((julianday('now') - 2440587.5) * 86400.0)"  # to a millisecond


CLOCK: ColumnElement[float] = _Clock()
