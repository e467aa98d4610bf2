"""What to run, or what to take care of."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator
from pydantic.alias_generators import to_camel

from streamjob_operator.spec.base import Part
from streamjob_operator.spec.dependencies import SETTINGS, Dependencies, both_said, twice
from streamjob_operator.spec.labels import MOST as MOST_LABELS
from streamjob_operator.spec.labels import Labels
from streamjob_operator.spec.object_names import ConfigMapName, DriverName
from streamjob_operator.spec.pod_templates import (
    DRIVER,
    EXECUTOR,
    FOLDERS,
    Template,
    folder_mistakes,
    template_mistakes,
)
from streamjob_operator.spec.restart import Restart
from streamjob_operator.spec.rules import Rule, Shape, exactly_one, matches, quoted, shaped, told
from streamjob_operator.spec.sentences import Mistake, Mistakes, shown
from streamjob_operator.spec.template_shapes import DriverTemplate, ExecutorTemplate, folder_rules

CONTROLLED = (
    "spark.dynamicAllocation.enabled",
    "spark.speculation",
    "spark.storage.decommission.enabled",
)
"""Settings that would move or duplicate tasks behind StreamJob's back; only "false" is allowed."""


SAID_ELSEWHERE = {
    "spark.executor.instances": "spec.executors",
    "spark.executor.cores": "spec.application.executor.cores",
    "spark.executor.memory": "spec.application.executor.memory",
    "spark.driver.cores": "spec.application.driver.cores",
    "spark.driver.memory": "spec.application.driver.memory",
    "spark.kubernetes.container.image": "spec.application.image",
    "spark.kubernetes.driver.container.image": "spec.application.driver.image",
    "spark.kubernetes.executor.container.image": "spec.application.executor.image",
    "spark.submit.pyFiles": "spec.application.deps.pyFiles",
}
"""Settings that a field of the StreamJob stands for: of two values one would win unseen."""


PORTS = ("spark.driver.port", "spark.driver.blockManager.port")
"""Settings that the driver's service needs as ports of its own."""

PORT_HINT = "a port from 1 to 65535 is needed"
_MEMORY = r"0*[1-9][0-9]*[kmgt]"
_BEHIND = 'it would move tasks or executors behind StreamJob\'s back, so only "false" is allowed'
_MEMORY_HINT = "a Spark memory size such as 512m or 4g is needed"
_MAIN_FILE = r"[^:]+|[a-z][a-z0-9+.-]*://[^,\s]+"
_MAIN_FILE_HINT = "a path is needed, or an address such as local:///opt/app/job.py, s3a://... or https://..."
_R, _R_HINT = r".*[.][rR]", "a PySpark script is needed, or a jar and mainClass: no agent can live in R"
_JAR = r".*[.][jJ][aA][rR]"
_CLASS_MISSING = "a jar is given in mainFile, so its class is needed"
_JAR_MISSING = "a jar is needed, since mainClass is given"
_NO_PYTHON = "mainClass is given, and Python files are no use to a class; leave one of them out"
_CLASS = r"[A-Za-z_$][A-Za-z0-9_$]*([.][A-Za-z_$][A-Za-z0-9_$]*)*"
_CLASS_HINT = "the full name of a class is needed, such as com.example.Clicks"


def _script(text: str) -> str:
    if not re.fullmatch(_MAIN_FILE, text):
        raise ValueError(_MAIN_FILE_HINT)
    if re.fullmatch(_R, text):
        raise ValueError(_R_HINT)
    return text


def _of(role: str) -> AfterValidator:
    def check(template: dict[str, Any]) -> dict[str, Any]:
        if found := tuple(template_mistakes(template, role)):
            raise Mistakes(found)
        return template

    return AfterValidator(check)


def _controlled(name: str) -> Rule:
    key, value = quoted(name), f"self.sparkConf[{quoted(name)}]"
    return Rule(
        f"!has(self.sparkConf) || !({key} in self.sparkConf) || {value}.lowerAscii() == 'false'",
        _BEHIND,
        f".sparkConf[{key}]",
        told(f"'%s' given; {_BEHIND}", value),
    )


def _elsewhere(name: str, field: str) -> Rule:
    key = quoted(name)
    return Rule(
        f"!has(self.sparkConf) || !({key} in self.sparkConf)", f"{field} says this, leave it out", f".sparkConf[{key}]"
    )


def _port(name: str) -> Rule:
    key, value = quoted(name), f"self.sparkConf[{quoted(name)}]"
    number = f"{value}.matches('^[0-9]{{1,5}}$') && int({value}) > 0 && int({value}) < 65536"
    absent = f"!has(self.sparkConf) || !({key} in self.sparkConf)"
    return Rule(f"{absent} || {number}", PORT_HINT, f".sparkConf[{key}]", told(f"'%s' given; {PORT_HINT}", value))


def _language_rules() -> tuple[Rule, ...]:
    jar = f"self.mainFile.matches({quoted(f'^(?:{_JAR})$')})"
    no_python = "!has(self.deps) || !has(self.deps.pyFiles) || self.deps.pyFiles.size() == 0"
    return (
        Rule(f"has(self.mainClass) || !{jar}", _CLASS_MISSING, ".mainClass"),
        Rule(
            f"!has(self.mainClass) || {jar}",
            _JAR_MISSING,
            ".mainFile",
            told(f"'%s' given; {_JAR_MISSING}", "self.mainFile"),
        ),
        Rule(f"!has(self.mainClass) || {no_python}", _NO_PYTHON, ".deps.pyFiles"),
    )


class Pod(Part):
    """Size and shape of one pod."""

    image: str | None = Field(default=None, min_length=1)
    """Container image of this pod alone. Default: application.image."""

    cores: int = Field(default=1, ge=1, le=256)
    """Task slots (executor) or cores (driver). Default 1, range 1 to 256."""

    memory: Annotated[str, shaped(_MEMORY, _MEMORY_HINT), matches(_MEMORY, _MEMORY_HINT)] = Field(
        default="1g", max_length=20
    )
    """JVM heap, as Spark writes it: 512m, 4g. Default 1g."""


class DriverPod(Pod):
    """Size and shape of the driver's pod."""

    pod_template: Annotated[dict[str, Any], _of(DRIVER), Shape(DriverTemplate)] = Field(default_factory=dict)
    """Kubernetes pod template that is merged into the pod: metadata, and spec with volumes, nodeSelector, tolerations,
    serviceAccountName and the like. What StreamJob or Spark must decide itself is refused. Default: empty."""


class ExecutorPod(Pod):
    """Size and shape of each executor's pod."""

    pod_template: Annotated[dict[str, Any], _of(EXECUTOR), Shape(ExecutorTemplate)] = Field(default_factory=dict)
    """Kubernetes pod template that is merged into the pods: metadata, and spec with volumes, nodeSelector, tolerations,
    serviceAccountName and the like. What StreamJob or Spark must decide itself is refused. Default: empty."""


class Application(Part):
    """A Spark application that StreamJob starts itself, in Python, Java or Scala; its code needs no change."""

    RULES = (
        Rule("has(self.image)", "image is needed on Kubernetes, the container image of driver and executors", ".image"),
        *(_controlled(name) for name in CONTROLLED),
        *(_elsewhere(name, field) for name, field in SAID_ELSEWHERE.items()),
        *(both_said(field, to_camel(field)) for field in SETTINGS),
        *(_port(name) for name in PORTS),
        *_language_rules(),
        *folder_rules(),
    )

    image: str | None = Field(default=None, min_length=1)
    """Container image of driver and executors. Needed on Kubernetes, unused standalone."""

    main_file: Annotated[
        str,
        AfterValidator(_script),
        matches(_MAIN_FILE, _MAIN_FILE_HINT),
        Rule(f"!self.matches({quoted(f'^(?:{_R})$')})", _R_HINT),
    ] = Field(min_length=1, max_length=2000)
    """The user's PySpark script, or the jar of mainClass: a path (standalone), local:///path inside the image, or an
    address that the driver's Spark can fetch before it starts, such as s3a://... or https://... Required; at most 2000
    characters."""

    main_class: Annotated[str, shaped(_CLASS, _CLASS_HINT), matches(_CLASS, _CLASS_HINT)] | None = Field(
        default=None, max_length=500
    )
    """Class of the jar in mainFile whose main is the application, in Java or Scala; the agent rides in its driver as a
    plugin. Default: none, mainFile is a PySpark script; at most 500 characters."""

    args: tuple[str, ...] = ()
    """Arguments of the script. Default: none."""

    spark_conf: dict[str, str] = Field(default_factory=dict)
    """Spark settings; every value is text. Default: none."""

    deps: Dependencies = Dependencies()
    """What the application needs beside its script: Python files, jars, files, archives, Maven packages."""

    hadoop_config_map: ConfigMapName | None = None
    """ConfigMap of the job's namespace with Hadoop's files, such as core-site.xml: mounted into driver and executors,
    where HADOOP_CONF_DIR names the folder. Default: none; unused standalone."""

    spark_config_map: ConfigMapName | None = None
    """ConfigMap of the job's namespace with Spark's files, such as log4j2.properties: mounted into the driver, where
    SPARK_CONF_DIR names the folder; Spark gives them to executors. Settings belong to sparkConf: a spark-defaults.conf
    in it is not read. Default: none; unused standalone."""

    checkpoint: str | None = Field(default=None, min_length=1, max_length=2000)
    """Checkpoint location that the script uses, given to it as STREAMJOB_CHECKPOINT. Default: the script's own;
    at most 2000 characters."""

    driver: DriverPod = DriverPod()
    """Size and shape of the driver's pod."""

    executor: ExecutorPod = ExecutorPod()
    """Size and shape of each executor's pod."""

    restart: Restart = Restart()
    """What happens when the driver ends: whether it is started again from the checkpoint, and after which wait."""

    @model_validator(mode="after")
    def _controlled_settings(self) -> Application:
        for name in CONTROLLED:
            value = self.spark_conf.get(name, "false")
            if value.lower() != "false":
                raise ValueError(f"sparkConf: {name} is '{value}'; {_BEHIND}")
        for name, field in SAID_ELSEWHERE.items():
            if name in self.spark_conf:
                raise ValueError(f"sparkConf: {name} is '{self.spark_conf[name]}'; {field} says this, leave it out")
        for field, name in SETTINGS.items():
            if name in self.spark_conf and getattr(self.deps, field):
                raise ValueError(f"sparkConf: {name} is '{self.spark_conf[name]}'; {twice(to_camel(field))}")
        for name in PORTS:
            port = self.spark_conf.get(name)
            if port is not None and not (re.fullmatch("[0-9]{1,5}", port) and 0 < int(port) < 65536):
                raise ValueError(f"sparkConf: {name} is '{port}'; {PORT_HINT}")
        return self

    @model_validator(mode="after")
    def _language(self) -> Application:
        if re.fullmatch(_JAR, self.main_file):
            if self.main_class is None:
                raise Mistakes((Mistake("mainClass", f"nothing given; {_CLASS_MISSING}"),))
        elif self.main_class is not None:
            raise Mistakes((Mistake("mainFile", f"{shown(self.main_file)} given; {_JAR_MISSING}"),))
        if self.main_class is not None and self.deps.py_files:
            raise Mistakes((Mistake("deps.pyFiles", f"a list given; {_NO_PYTHON}"),))
        return self

    @model_validator(mode="after")
    def _folders(self) -> Application:
        given = {"hadoopConfigMap": self.hadoop_config_map, "sparkConfigMap": self.spark_config_map}
        templates: dict[str, Template] = {DRIVER: self.driver.pod_template, EXECUTOR: self.executor.pod_template}
        found = tuple(
            Mistake(f"{role}.podTemplate.{one.path}", one.said)
            for role, fields in FOLDERS.items()
            for field in fields
            if given[field] is not None
            for one in folder_mistakes(templates[role], role, field)
        )
        if found:
            raise Mistakes(found)
        return self


class ApplicationRef(Part):
    """An application that somebody else starts, whose driver runs the agent."""

    RULES = (
        exactly_one("name", "matchLabels"),
        Rule(
            "!has(self.apiVersion) || (self.kind == 'Pod') == (self.apiVersion == 'v1')",
            "apiVersion must be v1 for a Pod, and another one for a SparkApplication",
            ".apiVersion",
        ),
    )

    kind: Literal["SparkApplication", "Pod"] = "SparkApplication"
    """SparkApplication (Kubeflow's or Apache's operator) or Pod (any driver pod). Default SparkApplication."""

    api_version: Literal["sparkoperator.k8s.io/v1beta2", "spark.apache.org/v1", "v1"] | None = None
    """API of that object. Default: sparkoperator.k8s.io/v1beta2 for a SparkApplication, v1 for a Pod."""

    name: DriverName | None = None
    """Name of the object, at most 253 characters. Exactly one of name and matchLabels is needed."""

    match_labels: Labels | None = Field(default=None, min_length=1, max_length=MOST_LABELS)
    """Labels of the driver pod, at most 20. Exactly one of name and matchLabels is needed."""

    @model_validator(mode="after")
    def _one_way(self) -> ApplicationRef:
        if (self.name is None) == (self.match_labels is None):
            given = "neither is" if self.name is None else "both are"
            raise ValueError(f"{given} given; exactly one of name and matchLabels is needed")
        return self

    @model_validator(mode="after")
    def _api_of_kind(self) -> ApplicationRef:
        if self.api_version is not None and (self.kind == "Pod") != (self.api_version == "v1"):
            raise ValueError(
                f"kind is {self.kind} and apiVersion {self.api_version}; "
                "apiVersion must be v1 for a Pod, and another one for a SparkApplication"
            )
        return self

    @property
    def api(self) -> str:
        """API of the object, its default included."""
        return self.api_version or ("v1" if self.kind == "Pod" else "sparkoperator.k8s.io/v1beta2")
