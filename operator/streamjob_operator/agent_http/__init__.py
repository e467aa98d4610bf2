"""The agent over HTTP: its page of measurements, its status, its assignment. Both bodies ask it so."""
