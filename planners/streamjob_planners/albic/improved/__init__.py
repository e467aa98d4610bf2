"""ALBIC improved: a target that keeps partners together, walked to at the pace of the budget (decision 0010)."""
