"""How long a micro-batch takes: stages one after another, tasks on slots, each stage as long as its slowest slot.

The one model of batch time: planners, gate, scaling, explanation and simulation ask it (docs/batch-time.md).
"""
