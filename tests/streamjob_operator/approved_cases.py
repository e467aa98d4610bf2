"""A job whose plans a person approves, a plan that was shown, and what today's measurements ask for: made by hand."""

from __future__ import annotations

import dataclasses

from small_models import moved, placed
from worlds import World, job

from streamjob_operator.spec import StreamJob
from streamjob_operator.steps.case import Case
from streamjob_operator.steps.resize import Resized
from streamjob_operator.values import Memory, PendingPlan, Reason, ScalingDecision
from streamjob_planners.model import LoadModel

BALANCE = ("mode: Auto\n    planner", "mode: Approve\n    planner")
SCALING = ("scaling: {mode: Auto", "scaling: {mode: Approve")
UNEVEN = placed([20.0, 20.0, 20.0, 5.0], [0, 0, 0, 1], nodes=3)  # 60 and 5 points, and an executor with nothing
WORLD = World(
    loads=[20.0, 20.0, 20.0, 5.0], owners=["0", "0", "0", "1"], executors=dict.fromkeys(("0", "1", "2"), "ready")
)
SEEN = dataclasses.replace(WORLD.observe(1000.0, 10.0), generation_applied=4)


def named(*changes: tuple[str, str], plan: str = "shown") -> StreamJob:
    return job(BALANCE, SCALING, *changes, annotations={"streamjob.dev/approve": plan})


def shown(**changes: object) -> PendingPlan:
    """Plan "shown", that moves key group 2 to executor 1; replaced since."""
    plain = PendingPlan(
        plan_hash="shown",
        made_at_s=900.0,
        application_id="app-1",
        moves={"0/2": ("0", "1")},
        executors_wanted=3,
        marked=(),
        replaced_at_s=950.0,
    )
    return dataclasses.replace(plain, **changes)  # type: ignore[arg-type]


def decided(target: int, reason: Reason, *, told: bool = False) -> ScalingDecision:
    return ScalingDecision(needed=target, target=target, reason=reason, message=f"{target} would do.", told=told)


def today(model: LoadModel = UNEVEN, wanted: int = 3, marked: tuple[str, ...] = (), **changes: object) -> Resized:
    """What today's measurements ask for: executors and marks, and no moves."""
    reason = Reason.BALANCED if wanted == 3 else Reason.SCALE_IN if wanted < 3 else Reason.SCALE_OUT
    stay = [int(one) for one in model.node_of]
    plain = Resized(
        model=model, plan=moved(model, stay), decision=decided(wanted, reason), wanted=wanted, marked=marked
    )
    return dataclasses.replace(plain, **changes)  # type: ignore[arg-type]


def case(plan: PendingPlan, resized: Resized | None = None, of: StreamJob | None = None, **changes: object) -> Case:
    memory = Memory(application_id="app-1", executors_target=3, generation=4, acted_at_s=800.0, shown=(plan,))
    plain = Case(
        job=of or named(),
        snapshot=SEEN,
        memory=memory,
        resized=resized or today(),
        remove=(),
        violations=(),
        now_s=1000.0,
    )
    return dataclasses.replace(plain, **changes)  # type: ignore[arg-type]
