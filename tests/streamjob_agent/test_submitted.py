"""What pyspark hands to spark-submit."""

from __future__ import annotations

import pytest

from streamjob_agent.submitted import bracket


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ("--conf spark.driver.bindAddress=fd78:0:0:1::a pyspark-shell", "[fd78:0:0:1::a] pyspark-shell"),
        ("--conf spark.driver.bindAddress=fd78::1.2.3.4", "[fd78::1.2.3.4]"),
        ("--conf spark.driver.bindAddress=10.0.0.7 pyspark-shell", "10.0.0.7 pyspark-shell"),
        ("--conf spark.driver.bindAddress=[::1] pyspark-shell", "[::1] pyspark-shell"),
    ],
)
def test_spark_gets_addresses_of_ipv6_in_brackets(arguments: str, wanted: str) -> None:
    """It ended with: Expected hostname or IPv6 IP enclosed in [] but got fd78:0:0:1::a."""
    environ = {"PYSPARK_SUBMIT_ARGS": arguments}
    bracket(environ)
    assert environ == {"PYSPARK_SUBMIT_ARGS": f"--conf spark.driver.bindAddress={wanted}"}


def test_both_addresses_of_a_change_of_key_groups_are_given_brackets() -> None:
    environ = {"PYSPARK_SUBMIT_ARGS": "--conf spark.driver.host=fd78::a --conf spark.driver.bindAddress=fd78::a x"}
    bracket(environ)
    assert environ["PYSPARK_SUBMIT_ARGS"].count("=[fd78::a] ") == 2
    bracket(nothing := {})
    assert nothing == {}
