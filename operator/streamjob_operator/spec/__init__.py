"""The StreamJob as users write it: models, units, reading, and sentences for mistakes."""

from streamjob_operator.spec.application import Application, ApplicationRef
from streamjob_operator.spec.job import Spec, StreamJob
from streamjob_operator.spec.policies import (
    Balancing,
    Collocation,
    Denied,
    Executors,
    InitialPlacement,
    MigrationBudget,
    Mode,
    Scaling,
    Window,
)
from streamjob_operator.spec.reading import SpecError, parse_job, read_job
from streamjob_operator.spec.restart import RestartPolicy

__all__ = [
    "Application",
    "ApplicationRef",
    "Balancing",
    "Collocation",
    "Denied",
    "Executors",
    "InitialPlacement",
    "MigrationBudget",
    "Mode",
    "RestartPolicy",
    "Scaling",
    "Spec",
    "SpecError",
    "StreamJob",
    "Window",
    "parse_job",
    "read_job",
]
