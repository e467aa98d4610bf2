"""What each scaling rule of the registry is for, in words for a person who has to choose one."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """One rule: what it does, when to choose it, what it takes, and where it comes from."""

    what: str
    choose_when: str
    cost: str
    source: str


DESCRIPTIONS = {
    "batch-time": Description(
        what="Asks for the fewest executors whose batches are seldom late at the rate expected once they are there.",
        choose_when="Nothing speaks for another one: this is the default.",
        cost="Trusts predicted batches; where these are too far off, it falls back to the load of slots.",
        source="Ours; decision 0051. True rates as in DS2 (OSDI 2018); forecasts after Holt and Winters.",
    ),
    "dhalion": Description(
        what="More executors by the share of time in backpressure, a fifth fewer after five minutes without.",
        choose_when="You want to compare with symptom, diagnosis and resolution.",
        cost="One resolution in five minutes; scaling in is tried until it hurts.",
        source="Floratou et al., PVLDB 10(12), 2017, sections 4 and 5.",
    ),
    "ds2": Description(
        what="What arrives over what one executor truly takes, in one step.",
        choose_when="You want to compare with DS2: exact where work is spread evenly and slots are all that counts.",
        cost="No headroom: skew, the fixed part of batches and backlogs are not in its model.",
        source="Kalavri et al., OSDI 2018, section 3.2; strymon-system/ds2.",
    ),
    "flink": Description(
        what="Capacity for arrivals at 70 percent, for the backlog and for a restart, over a window of 15 minutes.",
        choose_when="You want to compare with the autoscaler of the Flink Kubernetes Operator.",
        cost="Slow by design: 20 minutes between changes, an hour before scaling in.",
        source="Flink Kubernetes Operator 1.16-SNAPSHOT, flink-autoscaler.",
    ),
    "hpa": Description(
        what="Executors in proportion to busy slots over the target, with the default windows and policies.",
        choose_when="You want to compare with a HorizontalPodAutoscaler on CPU.",
        cost="Sees neither batches nor lag: a job that is behind and one that is just busy look alike.",
        source="Kubernetes, autoscaling/v2: pkg/controller/podautoscaler.",
    ),
    "keda": Description(
        what="Executors so that at most lagThreshold rows wait in the source for each.",
        choose_when="You want to compare with KEDA on the lag of a source.",
        cost="lagThreshold must be found for each job; between two batches rows wait that nobody is late with.",
        source="KEDA 2.20: apache_kafka_scaler.go, and the HorizontalPodAutoscaler that it feeds.",
    ),
    "spark-dynamic": Description(
        what="Executors while tasks queue for more than a second, doubling; idle ones leave after a minute.",
        choose_when="You want to compare with spark.dynamicAllocation.",
        cost="Stateful tasks reach every executor in every batch, so none is idle: it grows, and never shrinks.",
        source="Spark, core ExecutorAllocationManager.",
    ),
    "spark-streaming": Description(
        what="Once a minute: more executors from 0.9 of the batch interval on, one fewer from 0.3 down.",
        choose_when="You want to compare with spark.streaming.dynamicAllocation.",
        cost="Waits until batches nearly overrun; between 0.3 and 0.9 nothing leaves.",
        source="Spark, streaming ExecutorAllocationManager.",
    ),
    "utilization": Description(
        what="Keeps slots busy to a target, batches within their trigger interval, and state within memory.",
        choose_when="You want slots busy to a figure, whatever batches take.",
        cost="Follows what was measured: a rise is answered once it is there; a lag that executors can't help counts.",
        source="Ours; algorithm 1 of the ALBIC paper, section 4.2.",
    ),
}
"""By name; every rule of the registry has one, which a test keeps."""
