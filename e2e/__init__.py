"""Real surroundings for tests and demos, and the tests that need a whole cluster."""
