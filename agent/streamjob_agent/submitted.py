"""What pyspark hands to spark-submit: Spark's settings of a driver, as one variable of its environment."""

from __future__ import annotations

import re
from collections.abc import MutableMapping

ARGUMENTS = "PYSPARK_SUBMIT_ARGS"
SHELL = "pyspark-shell"
"""Its last word."""
_OF_IPV6 = re.compile(r"(spark\.driver\.(?:host|bindAddress)=)([0-9a-fA-F:]*:[0-9a-fA-F:.]*)(?=\s|$)")


def bracket(environ: MutableMapping[str, str]) -> None:
    """Give Spark a driver's address of IPv6 in brackets: it takes no other, and a pod's own is told to it without."""
    if ARGUMENTS in environ:
        environ[ARGUMENTS] = _OF_IPV6.sub(r"\1[\2]", environ[ARGUMENTS])
