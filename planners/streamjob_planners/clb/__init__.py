"""CLB: what swings together is put apart, once in many windows, by the covariances of the loads."""
