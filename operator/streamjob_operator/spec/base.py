"""What all parts of a StreamJob share: camel-case names, unknown fields refused, frozen, no silent conversion."""

from __future__ import annotations

from typing import ClassVar

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from streamjob_operator.spec.rules import Rule


class Part(BaseModel):
    """One object of the StreamJob. Every field has a description with unit, default and range."""

    RULES: ClassVar[tuple[Rule, ...]] = ()
    KEEPS_UNKNOWN: ClassVar[bool] = False
    """Whether the API server keeps fields that the definition does not know: those of a newer writer than it."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        extra="forbid",
        frozen=True,
        strict=True,
        allow_inf_nan=False,
        use_attribute_docstrings=True,
    )
