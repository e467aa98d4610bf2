"""From what a metrics page says at two moments to a snapshot: shared by every source of measurements."""
