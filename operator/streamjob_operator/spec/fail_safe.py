"""What is done when measurements are missing for long."""

from __future__ import annotations

from pydantic import Field, model_validator

from streamjob_operator.spec.base import Part
from streamjob_operator.spec.quantities import Duration, format_duration
from streamjob_operator.spec.rules import Rule, seconds, told

_BOTH = "floor and floorAfter are needed together"
_ORDER = "outAfter must not be above floorAfter"


class FailSafe(Part):
    """A ladder for the time without measurements. By default nothing is changed; no rung of it ever scales in."""

    RULES = (
        Rule("has(self.floor) == has(self.floorAfter)", _BOTH),
        Rule(
            "!has(self.outAfter) || !has(self.floorAfter) || "
            f"{seconds('self.outAfter')} <= {seconds('self.floorAfter')}",
            _ORDER,
            ".outAfter",
            told(f"outAfter is %s and floorAfter is %s; {_ORDER}", "self.outAfter", "self.floorAfter"),
        ),
    )

    out_after_s: Duration | None = Field(default=None, alias="outAfter", ge=1, le=604800)
    """Time without measurements after which more executors are asked for where what can still be seen says so: more
    were needed when measurements ended, or batches take longer than usual since. Duration, range 1s to 7d, default:
    never."""

    floor_after_s: Duration | None = Field(default=None, alias="floorAfter", ge=1, le=604800)
    """Time without measurements after which there shall be `floor` executors at least. Duration, range 1s to 7d,
    default: never; needs floor."""

    floor: int | None = Field(default=None, ge=1, le=10_000)
    """Executors that there shall be at least after floorAfter, within executors.max; more that are there stay. Range 1
    to 10000, default: none; needs floorAfter."""

    @model_validator(mode="after")
    def _complete(self) -> FailSafe:
        if (self.floor is None) != (self.floor_after_s is None):
            raise ValueError(_BOTH)
        if self.out_after_s is not None and self.floor_after_s is not None and self.out_after_s > self.floor_after_s:
            out, floor = format_duration(self.out_after_s), format_duration(self.floor_after_s)
            raise ValueError(f"outAfter is {out} and floorAfter {floor}; {_ORDER}")
        return self
