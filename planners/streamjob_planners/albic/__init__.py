"""ALBIC: load balancing with integrated collocation (paper, section 4.3.2).

To be read in this order: `algorithm_2` is the paper's on one page, `step_1_scores` to `step_4_solve` are its steps,
`task` is what they share during one call, `settings` are the knobs. `improved` is what we use instead, made of the same
steps: `planner`, then `round`, then what a round asks (`choice`, `candidates`, `target`, `settle`, `balance`), and
`by_time` where the time of a batch counts.
"""
