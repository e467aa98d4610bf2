"""Pages of fields, from the schemas of the CRDs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from making.tables import code, table
from streamjob_operator.kube.crd.definitions import partition_map, stream_job

Schema = dict[str, Any]
HEAD = ("field", "type", "default", "allowed", "what it is")


def stream_job_page() -> str:
    """Every field of a StreamJob."""
    return _page(stream_job(), "spec is what you write; status is the operator's.")


def partition_map_page() -> str:
    """Every field of a PartitionMap."""
    return _page(partition_map(), "spec is the operator's; status is the agent's.")


def _page(definition: dict[str, Any], whose: str) -> str:
    names, (version,) = definition["spec"]["names"], definition["spec"]["versions"]
    schema = version["schema"]["openAPIV3Schema"]
    columns = ", ".join(column["name"].upper() for column in version["additionalPrinterColumns"])
    head = (
        f"# {names['kind']}\n\n{schema['description']}\n\n"
        f"API `{definition['spec']['group']}/{version['name']}`, short name `{names['shortNames'][0]}`, "
        f"category `{names['categories'][0]}`. {whose}\n\n"
        f"`kubectl get {names['shortNames'][0]} -o wide` shows {columns}.\n"
    )
    sections = [section for part in ("spec", "status") for section in _sections(part, schema["properties"][part])]
    return "".join([head, *sections])


def _sections(path: str, schema: Schema) -> Iterator[str]:
    """An object and the objects in it, each with a table."""
    properties = schema.get("properties", {})
    required = set(schema.get("required", ()))
    rows = [_row(path, name, field, name in required) for name, field in properties.items()]
    rules = "".join(f"- {_sentence(rule)}\n" for rule in schema.get("x-kubernetes-validations", ()))
    about = f"{schema['description']}\n\n" if schema.get("description") else ""
    yield f"\n## {path}\n\n{about}{table(HEAD, rows)}" + (f"\n{rules}" if rules else "")
    for name, field in properties.items():
        if _inner(field) is not None:
            yield from _sections(_inner_path(path, name, field), {**_inner(field), "description": field["description"]})


def _row(path: str, name: str, field: Schema, required: bool) -> tuple[str, ...]:
    shown = code(name)
    if _inner(field) is not None:
        anchor = "".join(letter for letter in _inner_path(path, name, field).lower() if letter.isalnum())
        shown = f"[{shown}](#{anchor})"
    return shown, _type(field), _default(field, required), _allowed(field), field.get("description", "")


def _inner(field: Schema) -> Any:
    """The schema of the object that a field is, or a list of it holds."""
    item = field.get("items", field)
    return item if "properties" in item else None


def _inner_path(path: str, name: str, field: Schema) -> str:
    return f"{path}.{name}[]" if "items" in field else f"{path}.{name}"


def _type(field: Schema) -> str:
    if field.get("x-kubernetes-int-or-string"):
        return "string or integer"
    if "items" in field:
        return f"list of {_type(field['items'])}"
    if "additionalProperties" in field:
        return f"map of {_type(field['additionalProperties'])}"
    return str(field["type"])


def _default(field: Schema, required: bool) -> str:
    if required:
        return "required"
    default = field.get("default")
    return "" if default is None or _inner(field) is not None else code(json.dumps(default))


def _allowed(field: Schema) -> str:
    """Choices, bounds and rules of a field that is no object."""
    item = field.get("items", field)
    if "enum" in item:
        return ", ".join(code(choice) for choice in item["enum"])
    if _inner(field) is not None:
        return ""
    words = [rule["message"] for rule in field.get("x-kubernetes-validations", ())]
    least = "more than" if field.get("exclusiveMinimum") else "at least"
    words += [f"{least} {field['minimum']:.12g}"] if "minimum" in field else []
    words += [f"at most {field['maximum']:.12g}"] if "maximum" in field else []
    words += ["not empty"] if field.get("minLength") or field.get("minItems") or field.get("minProperties") else []
    return "; ".join(words)


def _sentence(rule: dict[str, str]) -> str:
    field = rule.get("fieldPath", "").removeprefix(".")
    return f"{code(field)}: {rule['message']}." if field else f"{rule['message'][:1].upper()}{rule['message'][1:]}."
