"""Settings that Spark reads only while it submits a driver's pod: here they would do nothing, without a word."""

from __future__ import annotations

from streamjob_operator.importing.draft import Draft
from streamjob_operator.spec.application import SAID_ELSEWHERE

_ACCOUNT = "spark.kubernetes.authenticate.driver.serviceAccountName"
_ENV = "spark.kubernetes.driverEnv."
_METADATA = {"spark.kubernetes.driver.label.": "labels", "spark.kubernetes.driver.annotation.": "annotations"}
_OTHERS = ("spark.kubernetes.driver.", "spark.kubernetes.authenticate.driver.", "spark.driver.memoryOverhead")


def tidy_submission(draft: Draft) -> None:
    """What the driver's pod template can say is said there, where it says nothing yet; of the others is told."""
    settings = draft.application.get("sparkConf", {})
    for key in [one for one in settings if one.startswith((_ENV, *_OTHERS)) and one not in SAID_ELSEWHERE]:
        value = settings.pop(key)
        carried = _carry(draft, key, value)
        if carried is None:
            draft.note(
                f"sparkConf: {key} was '{value}' and was left out: nothing is submitted here; application.driver and "
                "its podTemplate say what the driver's pod is like."
            )
        elif carried != value:
            draft.note(f"sparkConf: {key} was '{value}' and was left out: driver.podTemplate says '{carried}'.")


def _carry(draft: Draft, key: str, value: str) -> str | None:
    """What the template says of it now; None where it has no place for it."""
    if key == _ACCOUNT:
        return str(draft.template("driver", "spec").setdefault("serviceAccountName", value))
    if key.startswith(_ENV):
        return _variable(draft, key.removeprefix(_ENV), value)
    for prefix, field in _METADATA.items():
        if key.startswith(prefix):
            return str(draft.template("driver", "metadata", field).setdefault(key.removeprefix(prefix), value))
    return None


def _variable(draft: Draft, name: str, value: str) -> str:
    env = draft.container("driver").setdefault("env", [])
    there = next((one for one in env if one.get("name") == name), None)
    if there is None:
        env.append({"name": name, "value": value})
        return value
    return str(there.get("value", "a value from elsewhere"))
