"""The modules that decide, and the tests that have to notice when one decides otherwise.

Only what needs neither Spark nor a cluster; of these files each mutant runs the tests that reach its statement.
"""

from __future__ import annotations

import dataclasses
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
_ROOMS = ("agent", "planners", "operator")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """One module, by its path, and its tests by patterns; both from the root of the project."""

    path: str
    judged_by: tuple[str, ...]

    @property
    def name(self) -> str:
        """The module as it is named on the command line, with all others of that name."""
        return pathlib.Path(self.path).stem

    @property
    def imported_as(self) -> str:
        """The module as Python knows it."""
        room, *parts = pathlib.Path(self.path).with_suffix("").parts
        assert room in _ROOMS
        return ".".join(parts)

    def tests(self) -> list[str]:
        """The files, each once. A pattern that finds none is a mistake."""
        found: dict[str, None] = {}
        for pattern in self.judged_by:
            paths = sorted(ROOT.glob(pattern))
            if not paths:
                raise ValueError(f"{self.path}: no test is named {pattern}")
            found.update(dict.fromkeys(str(path.relative_to(ROOT)) for path in paths))
        return list(found)


def _agent(name: str, *tests: str) -> Module:
    return Module(
        path=f"agent/streamjob_agent/{name}.py",
        judged_by=tuple(f"tests/streamjob_agent/test_{test}.py" for test in (tests or (name,))),
    )


def _step(name: str, *tests: str) -> Module:
    """A step of the cycle, by the tests of steps: of whole cycles each takes its seconds."""
    return Module(
        path=f"operator/streamjob_operator/steps/{name}.py",
        judged_by=tuple(f"tests/streamjob_operator/steps/test_{test}.py" for test in (tests or (name,))),
    )


MODULES = (
    _agent("registration", "registration", "registration_steps"),
    _agent("wish", "wish", "registration"),
    _agent("gathering", "gathering", "gathering_by_hand", "registration_steps"),
    _agent("thefts"),
    Module(
        path="planners/streamjob_planners/verify.py",
        judged_by=(
            "tests/streamjob_planners/test_verify*.py",
            "tests/streamjob_planners/swings/test_judge.py",
            "tests/streamjob_planners/albic/test_by_time.py",
        ),
    ),
    Module(
        path="planners/streamjob_planners/facts.py",
        judged_by=(
            "tests/streamjob_planners/test_facts.py",
            "tests/streamjob_planners/swings/test_judge.py",
            "tests/streamjob_planners/albic/test_by_time.py",
        ),
    ),
    _step("gate"),
    _step("scale", "scale", "scale_answers"),
    _agent("actuation", "actuation", "agent", "rests", "lives"),
    _agent("admit", "admit", "agent"),
    _agent("lives"),
    _agent("ledger", "ledger", "warmup"),
    _agent("totals", "ledger", "warmup", "exporter"),
    _agent("rests"),
    _agent("pacing"),
    _agent("guard"),
    _step("worth", "worth", "worth_time"),
    _step("worth_time", "worth_said", "worth_time", "worth"),
    _step("worth_distance", "worth_distance", "worth", "worth_said"),
    _step("worth_swing", "worth_swing", "worth"),
    _step("leave"),
    _step("resize"),
    _step("fail_safe"),
    _step("idle"),
    _step("headroom"),
    _step("recall", "recall", "fleet"),
    _step("windows", "scale", "scale_answers"),
    _step("approve"),
    _step("approved", "approved", "approved_numbers"),
    _step("shown", "approved"),
    _step("boundary", "boundary", "worth_time"),
    Module(
        path="planners/streamjob_planners/capacity/cut.py",
        judged_by=("tests/streamjob_planners/capacity/test_cut.py",),
    ),
    Module(
        path="planners/streamjob_planners/capacity/own_rows.py",
        judged_by=("tests/streamjob_planners/capacity/test_own_rows.py",),
    ),
    Module(
        path="planners/streamjob_planners/capacity/turning.py",
        judged_by=("tests/streamjob_planners/capacity/test_turning_exact.py",),
    ),
    _step("turned", "turned", "turned_rows", "slowed"),
    Module(
        path="planners/streamjob_planners/batch/evidence.py",
        judged_by=("tests/streamjob_planners/batch/test_evidence_by_hand.py",),
    ),
    Module(
        path="operator/streamjob_operator/scaling/batch_time/needs.py",
        judged_by=("tests/streamjob_operator/scaling/batch_time/test_needs*.py",),
    ),
    Module(
        path="operator/streamjob_operator/scaling/batch_time/words.py",
        judged_by=("tests/streamjob_operator/scaling/batch_time/test_words.py",),
    ),
    Module(
        path="operator/streamjob_operator/key_groups.py",
        judged_by=(
            "tests/streamjob_operator/test_key_groups.py",
            "tests/streamjob_operator/standalone/test_key_groups.py",
        ),
    ),
    Module(
        path="operator/streamjob_operator/standalone/key_groups.py",
        judged_by=("tests/streamjob_operator/standalone/test_key_groups.py",),
    ),
    Module(
        path="operator/streamjob_operator/kube/report/key_groups.py",
        judged_by=("tests/streamjob_operator/kube/test_key_groups_status.py",),
    ),
    Module(
        path="operator/streamjob_operator/kube/driver/regroup.py",
        judged_by=("tests/streamjob_operator/kube/driver/test_regroup.py",),
    ),
    Module(
        path="operator/streamjob_operator/kube/driver/regroup_pod.py",
        judged_by=("tests/streamjob_operator/kube/driver/test_regroup.py",),
    ),
)


def named(names: list[str]) -> list[Module]:
    """The modules of these names, in the table's order; all without a name. An unknown name raises ValueError."""
    unknown = sorted(set(names) - {module.name for module in MODULES})
    if unknown:
        raise ValueError(f"no module is named {', '.join(unknown)}; there are {', '.join(one.name for one in MODULES)}")
    return [module for module in MODULES if not names or module.name in names]
