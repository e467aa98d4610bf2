"""The steps of the cycle, one module each; every step is a function of values, except observe, actuate and report."""
