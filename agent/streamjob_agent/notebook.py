"""The agent for a session that exists already: one call, from a notebook or a shell."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from typing import Any

from streamjob_agent import hooks
from streamjob_agent.attach import Host
from streamjob_agent.config import AgentConfig
from streamjob_agent.guard import say
from streamjob_agent.plugin import MARK
from streamjob_agent.spark.settings import merge_settings, recommended_settings

_installed: list[Host] = []


def install(spark: Any, config: AgentConfig | None = None) -> str | None:
    """Attach the agent to a session that exists, from a notebook; gives the address of its HTTP side.

    Without `config` the environment is read. Queries of the application's other sessions are watched, too, when Python
    starts them. Calling it again with a session of a new application moves the agent there. Settings that only count
    before a session exists are left as they are; the status tells which differ. Never raises.

    A program that has an agent already, of `python -m streamjob_agent run`, keeps that one: two would move key groups
    back and forth between what each of them wants.
    """
    present = hooks.watcher()
    if present is not None:
        say(logging.WARNING, "StreamJob agent: not installed, this program has one already, as it runs under it")
        return present.address
    if not _installed:
        given, complaints = (config, ()) if config else AgentConfig.from_env(os.environ)
        _installed.append(Host(given, complaints))
    host = _installed[0]
    pairs = host.guard.call("settings", lambda: dict(spark.sparkContext.getConf().getAll()), None)
    if pairs is not None and MARK in pairs:
        say(logging.WARNING, "StreamJob agent: not installed, this driver has one already, as a plugin of Spark")
        return None
    hooks.watch_queries(host)
    if pairs is not None:
        host.note("settings", settings_note(pairs))
    host.session_appeared(spark)
    return host.address


def uninstall() -> None:
    """Detach what `install` attached, if anything: nothing is measured or moved from now on.

    The job goes on as it is, and `install` may be called again. Never raises.
    """
    while _installed:
        _installed.pop().end()


def settings_note(given: Mapping[str, str]) -> str:
    """How the settings in force differ from the recommended ones, "ok" when they do not."""
    absent = [
        f"{key} is not set, {value} is recommended."
        for key, value in recommended_settings().items()
        if key not in given
    ]
    return " ".join([*(conflict.sentence for conflict in merge_settings(given)[1]), *absent]) or "ok"
