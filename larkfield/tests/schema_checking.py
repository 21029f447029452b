"""Judges a real answer by the API's own schema. No assertions about what it should be otherwise."""

import re
from copy import deepcopy
from functools import cache
from typing import Any

from drf_spectacular.generators import SchemaGenerator
from jsonschema import Draft202012Validator, FormatChecker
from referencing import Registry
from referencing.jsonschema import DRAFT202012

ADDRESS = "urn:schema"


@cache
def schema() -> dict[str, Any]:
    """The schema as /api/schema serves it."""
    generator = SchemaGenerator()  # type: ignore[no-untyped-call]  # the library has no types
    found: dict[str, Any] = generator.get_schema(request=None, public=True)  # type: ignore[no-untyped-call]  # as above
    return found


@cache
def strict_components() -> Registry[Any]:
    """The components, none of whose objects may hold what it does not name (a problem's may: it is extended)."""
    document = deepcopy(schema())
    for name, component in document["components"]["schemas"].items():
        if name != "Problem" and "properties" in component:
            component["additionalProperties"] = False
    empty: Registry[Any] = Registry()
    filled: Registry[Any] = empty.with_resource(ADDRESS, DRAFT202012.create_resource(document))
    return filled


def faults(response: Any, path: str, method: str = "get") -> list[str]:
    """Where the answer differs from what the schema says of its status and media type; `path` is the schema's own."""
    operation = schema()["paths"][path][method]
    status, media_type = str(response.status_code), response.headers.get("Content-Type", "").partition(";")[0]
    if status not in operation["responses"]:
        return [f"{method} {path} may not answer {status}"]
    content = operation["responses"][status].get("content", {})
    if not content:
        return ["it has a body"] if response.content else []
    if media_type not in content:
        return [f"{method} {path} may not answer {status} as {media_type}"]
    if not media_type.endswith("json"):
        return []
    return _differences(response.json(), content[media_type]["schema"])


def _differences(body: Any, wanted: dict[str, Any]) -> list[str]:
    validator = Draft202012Validator(_absolute(wanted), registry=strict_components(), format_checker=FormatChecker())
    return [f"{'/'.join(map(str, error.absolute_path))}: {error.message}" for error in validator.iter_errors(body)]


def _absolute(found: Any) -> Any:
    if isinstance(found, dict):
        return {key: f"{ADDRESS}{value}" if key == "$ref" else _absolute(value) for key, value in found.items()}
    return [_absolute(value) for value in found] if isinstance(found, list) else found


def filled(path: str, **values: object) -> str:
    """The schema's path with these parameters."""
    return re.sub(r"\{(\w+)\}", lambda found: str(values[found[1]]), path)
