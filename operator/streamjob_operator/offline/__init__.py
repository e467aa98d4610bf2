"""Planning without a running job: a plan from a stored snapshot, shown, drawn and judged."""
