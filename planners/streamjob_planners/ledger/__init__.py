"""What nodes, and levels on nodes, carry at a placement that changes: one ledger for all planners in Python."""
