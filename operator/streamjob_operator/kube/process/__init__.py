"""The operator's process: lease, watches, pools of turns, health and metrics pages."""
