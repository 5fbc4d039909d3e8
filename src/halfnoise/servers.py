"""Addresses of PostgreSQL: how one is said and dialled, and what a driver's errors tell.

No address holds a password: commands, logs and files are seen by others.
"""

import re
from typing import Any

from halfnoise.checks import installed
from halfnoise.errors import InvalidParameterError

URL = re.compile(r"postgres(?:ql)?://")
# What the server says where the same may work later: connection, conflict, resources, operator.
_LATER = ("08", "23505", "25P03", "40", "53", "55P03", "57", "58")
_GONE = {"OperationalError", "InterfaceError"}  # without a state
_DRIVER = "psycopg[binary]"


def check_address(what: str, url: str, example: str) -> dict[str, Any]:
    """Return the parts of an address; refuse what PostgreSQL does not take, and one that tells.

    >>> check_address("the table", "postgresql://host/clinic", "")["dbname"]
    'clinic'
    """
    psycopg = installed("psycopg", _DRIVER)
    try:
        parts: dict[str, Any] = psycopg.conninfo.conninfo_to_dict(url)
    except psycopg.Error:
        rule = "an address as PostgreSQL takes it"
        raise InvalidParameterError(f"{what} must be {rule}; {example}") from None
    if any("password" in name or "secret" in name for name in parts):
        why = "an address is seen by others: in commands, logs and files"
        remedy = "put it into the file .pgpass, or PGPASSWORD"
        raise InvalidParameterError(f"{what}'s address must hold no password: {why}; {remedy}")
    return parts


def dial(where: str) -> Any:
    """Open a connection that speaks UTF-8."""
    # Statements are not prepared, as a pool between us and the server may not keep them.
    how = {"fallback_application_name": "halfnoise", "client_encoding": "utf8"}
    return installed("psycopg", _DRIVER).connect(where, prepare_threshold=None, **how)


def state(error: BaseException) -> str:
    """Return the SQLSTATE of a driver's error, or nothing."""
    for name in ("sqlstate", "pgcode"):
        if isinstance(found := getattr(error, name, None), str):
            return found
    first = error.args[0] if error.args else None
    return str(first.get("C", "")) if isinstance(first, dict) else ""


def is_for_later(error: BaseException) -> bool:
    """Whether the same may work later: the server was out of reach, busy or stopped."""
    known, kinds = state(error), {kind.__name__ for kind in type(error).__mro__}
    gone = not known and (_GONE & kinds or isinstance(error, OSError))
    return bool(gone) or known.startswith(_LATER)
