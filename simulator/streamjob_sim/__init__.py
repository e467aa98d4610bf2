"""A streaming job on paper: implements the cycle's ports with a fake clock, so the real cycle can be simulated."""
