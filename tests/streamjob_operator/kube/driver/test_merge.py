"""Pod templates over each other."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from streamjob_operator.kube.driver.merge import overlay, with_main_first

CASES: dict[str, tuple[Any, Any, Any]] = {
    "fields meet": ({"a": 1, "b": {"c": 2}}, {"b": {"d": 3}}, {"a": 1, "b": {"c": 2, "d": 3}}),
    "the upper one wins": ({"a": 1}, {"a": 2}, {"a": 2}),
    "a plain list is replaced": ({"args": ["x", "y"]}, {"args": ["z"]}, {"args": ["z"]}),
    "containers meet by name": (
        {"containers": [{"name": "driver", "image": "a", "tty": True}]},
        {"containers": [{"name": "log"}, {"name": "driver", "image": "b"}]},
        {"containers": [{"name": "driver", "image": "b", "tty": True}, {"name": "log"}]},
    ),
    "a variable is replaced whole": (
        {"env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "x"}}}]},
        {"env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]},
        {"env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]},
    ),
    "mounts meet by path": (
        {"volumeMounts": [{"name": "one", "mountPath": "/a"}]},
        {"volumeMounts": [{"name": "two", "mountPath": "/a"}, {"name": "three", "mountPath": "/b"}]},
        {"volumeMounts": [{"name": "two", "mountPath": "/a"}, {"name": "three", "mountPath": "/b"}]},
    ),
    "nothing above": ({"a": [1]}, {}, {"a": [1]}),
}


@pytest.mark.parametrize("name", sorted(CASES))
def test_templates_are_laid_over_each_other(name: str) -> None:
    below, above, expected = CASES[name]
    kept = copy.deepcopy((below, above))
    assert overlay(below, above) == expected
    assert (below, above) == kept


MAINS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "no template": ({}, ["driver"]),
    "one container of another name": ({"spec": {"containers": [{"name": "spark"}]}}, ["driver"]),
    "ours is named": ({"spec": {"containers": [{"name": "log"}, {"name": "driver"}]}}, ["driver", "log"]),
    "ours is the first": ({"spec": {"containers": [{"name": "spark"}, {"name": "log"}]}}, ["driver", "log"]),
}


@pytest.mark.parametrize("name", sorted(MAINS))
def test_our_container_comes_first(name: str) -> None:
    template, names = MAINS[name]
    found = with_main_first(template, "driver")
    assert [one["name"] for one in found["spec"]["containers"]] == names
