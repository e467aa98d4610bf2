"""The real jobs of section 5 of "Integrative Dynamic Reconfiguration in a Parallel Stream Processing Engine" (ALBIC)."""
