"""Spark's side of the agent: a bridge to the driver through py4j and a probe that runs inside the JVM."""

from streamjob_agent.spark.driver import DriverBridge, connect, in_use
from streamjob_agent.spark.settings import Conflict, merge_settings, recommended_settings

__all__ = ["Conflict", "DriverBridge", "connect", "in_use", "merge_settings", "recommended_settings"]
