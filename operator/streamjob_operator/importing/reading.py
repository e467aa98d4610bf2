"""One SparkApplication's document in, the StreamJob's YAML and the sentences about it out."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import yaml

from streamjob_operator.importing import apache, finishing, kubeflow, submission
from streamjob_operator.importing.draft import UNFIT, UNFIT_WORDS, Draft, Way, unknown
from streamjob_operator.spec import SpecError, parse_job
from streamjob_operator.spec.job import API_VERSION
from streamjob_operator.spec.reading import PlainLoader, as_json, from_yaml

_KIND = "SparkApplication"
_LISTED = "List"
_KEPT = ("name", "namespace", "labels", "annotations")
_SET_BY_SERVER = frozenset(("creationTimestamp", "resourceVersion", "uid", "generation", "managedFields", "selfLink"))
_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


_AGENT = "application.image: it needs the agent, see docs/user/install.md."


class _Dumper(yaml.SafeDumper):
    """Writes everything out: people read the result."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


_Dumper.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"(?:[yYnN]|[-+]?(?:[.]?[0-9][0-9_]*(?:[.][0-9_]*)?(?:[eE][-+]?[0-9_]+)?|0[oO][0-7_]+))$"),
    list("yYnN-+.0123456789"),
)
"""Text that is a number or a boolean for kubectl, such as 098, 1e-3, 0o17 and y, and none for PyYAML: it is quoted."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """One operator's SparkApplication: its rows, and what needs several fields at once."""

    ways: tuple[Way, ...]
    finish: Callable[[Draft, Mapping[str, Any]], None]


DIALECTS = {
    kubeflow.API: Dialect(ways=kubeflow.WAYS, finish=kubeflow.finish),
    apache.API: Dialect(ways=apache.WAYS, finish=apache.finish),
}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """`text`: the StreamJob's YAML, with the notes as comments. `mistakes`: what `streamjob validate` says of it."""

    text: str
    notes: tuple[str, ...]
    mistakes: tuple[str, ...]


def imported(text: str) -> Imported:
    """The StreamJob of the only SparkApplication in YAML or JSON text; raises SpecError where there is none."""
    document, others = _only(text)
    dialect = DIALECTS.get(str(document.get("apiVersion")))
    if document.get("kind") != _KIND or dialect is None:
        given = f"{document.get('apiVersion')} {document.get('kind')}"
        raise SpecError((f"{given} given; a {_KIND} of {' or '.join(DIALECTS)} is needed.",))
    source, draft = document.get("spec", {}), Draft()
    if not isinstance(source, dict):
        raise SpecError(("spec: a map of fields is needed.",))
    try:
        _carry(dialect, source, draft)
        metadata = _metadata(document.get("metadata") or {}, draft)
    except SpecError:
        raise
    except UNFIT as error:
        sentence = f"The {_KIND} {UNFIT_WORDS}: {error!r}."
        raise SpecError((sentence,)) from error
    for other in others:
        draft.note(f"{other}: beside the {_KIND} in this file, so it was left out; it can be applied as it is.")
    return _written(metadata, draft)


def _carry(dialect: Dialect, source: Mapping[str, Any], draft: Draft) -> None:
    for way in dialect.ways:
        way.carry(source, draft)
    dialect.finish(draft, source)
    submission.tidy_submission(draft)
    finishing.tidy_settings(draft)
    for path in unknown(source, dialect.ways):
        draft.note(f"{path}: this field is not known here, so it was left out.")


def _metadata(given: Mapping[str, Any], draft: Draft) -> dict[str, Any]:
    """Names, labels and annotations: an owner or a finalizer of the other object would end or keep ours with it."""
    kept = {name: given[name] for name in _KEPT if given.get(name)}
    if "annotations" in kept:
        kept["annotations"] = {name: text for name, text in kept["annotations"].items() if name != _APPLIED}
    for name, value in given.items():
        if value and name not in _KEPT and name not in _SET_BY_SERVER:
            draft.note(f"metadata.{name}: it is about the {_KIND}'s own object, so it was left out.")
    return {name: value for name, value in kept.items() if value}


def _written(metadata: Mapping[str, Any], draft: Draft) -> Imported:
    job = {"apiVersion": API_VERSION, "kind": "StreamJob", "metadata": metadata, "spec": draft.spec}
    body = yaml.dump(job, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)
    try:
        parse_job(body)
        mistakes: tuple[str, ...] = ()
    except SpecError as error:
        mistakes = error.sentences
    draft.note(_AGENT)
    comments = "".join(f"# {note}\n" for note in draft.notes)
    return Imported(text=comments + body, notes=tuple(draft.notes), mistakes=mistakes)


def _only(text: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The SparkApplication, and kind and name of what is beside it; lists, as `kubectl get` writes them, are opened."""
    loaded = from_yaml(lambda: [one for one in yaml.load_all(text, PlainLoader) if one is not None])
    documents = [inner for one in loaded for inner in _opened(one)]
    found = [one for one in documents if isinstance(one, dict) and one.get("kind") == _KIND]
    if len(found) > 1:
        raise SpecError((f"{len(found)} SparkApplications given; one in a file is needed.",))
    if not found and (len(documents) != 1 or not isinstance(documents[0], dict)):
        raise SpecError((f"No {_KIND} given; a file with one is needed.",))
    chosen = found[0] if found else documents[0]
    # What JSON cannot say ends here: a map that is a part of itself, half of a character; two halves become one.
    document: dict[str, Any] = json.loads(as_json(chosen))
    return document, tuple(_called(one) for one in documents if one is not chosen)


def _opened(document: Any) -> list[Any]:
    items = document.get("items") if isinstance(document, dict) and document.get("kind") == _LISTED else None
    return items if isinstance(items, list) else [document]


def _called(document: Any) -> str:
    if not isinstance(document, dict):
        return "A document"
    metadata = document.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return " ".join(str(one) for one in (document.get("kind") or "A document", name) if one)
