"""The real jobs of the ALBIC paper, "Integrative Dynamic Reconfiguration in a Parallel Stream Processing Engine"."""
