"""PyYAML within bounds: it has none for what aliases grow to and for long numbers, and ends anyhow where a tag lies."""

from __future__ import annotations

from typing import Any

import yaml

LARGEST = 3 << 19
"""Bytes of a file, and characters of its documents with each alias written out: 1.5 MiB, the most that etcd takes."""
LONGEST_NUMBER = 400
"""Characters: more than the largest float has digits. Arithmetic with longer ones takes quadratic time."""
_NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
_SAID = 40


class OutOfBounds(yaml.YAMLError):
    """Too large to be read; its text is the whole sentence."""


def too_large(what: str) -> str:
    """The sentence about a text that is above LARGEST."""
    return f"{what}: more than {LARGEST:,} bytes; at most so many are read, as no larger object can be stored."


class BoundedLoader(yaml.SafeLoader):
    """Raises OutOfBounds, and else nothing but what PyYAML says it raises, RecursionError, and ValueError or
    OverflowError for a character that is none."""

    def __init__(self, stream: str) -> None:
        if len(stream) > LARGEST:
            raise OutOfBounds(too_large("This text"))
        super().__init__(stream)
        self._weighed: dict[yaml.Node, int] = {}
        self._all = 0

    def compose_document(self) -> yaml.Node | None:
        """The document, once it is known what it grows to: an alias is one more name of its node until then."""
        root = super().compose_document()
        if root is not None:
            self._all += self._weigh(root)
            _bounded(self._all, root)
        return root

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """What a tag promises and its text does not keep, such as `!!bool maybe`, is told with its line."""
        try:
            return super().construct_object(node, deep)
        except (ValueError, LookupError, AttributeError, ArithmeticError) as error:
            if not isinstance(node, yaml.ScalarNode):
                raise
            why = f": {error}" if isinstance(error, ValueError) else ""  # others have no sentence
            problem = f"'{node.value:.{_SAID}}' is no {node.tag.rpartition(':')[2]}{why}"
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark) from error

    def _weigh(self, node: yaml.Node) -> int:
        """Characters of the node with each alias written out, about as JSON has them; each node is looked at once."""
        known = self._weighed.get(node)
        if known is not None:
            return known
        if isinstance(node, yaml.ScalarNode):
            weight = _scalar(node)
        else:
            self._weighed[node] = 0  # one that is a part of itself has no size: whoever goes through it must tell
            weight = 2
            for part in _parts(node):
                weight += self._weigh(part)
                _bounded(weight, node)
        self._weighed[node] = weight
        return weight


def _parts(node: yaml.Node) -> list[yaml.Node]:
    return [part for pair in node.value for part in pair] if isinstance(node, yaml.MappingNode) else node.value


def _scalar(node: yaml.ScalarNode) -> int:
    if node.tag in _NUMBERS and len(node.value) > LONGEST_NUMBER:
        given = f"Line {node.start_mark.line + 1}: a number of {len(node.value):,} characters given"
        raise OutOfBounds(f"{given}; at most {LONGEST_NUMBER} are allowed.")
    return len(node.value) + 1


def _bounded(weight: int, node: yaml.Node) -> None:
    if weight > LARGEST:
        where = f"Line {node.start_mark.line + 1}: with each alias written out"
        raise OutOfBounds(f"{where} this has more than {LARGEST:,} characters; at most so many are read.")
