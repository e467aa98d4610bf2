"""Necessary conditions of a load distance: what fails here cannot be reached by any plan within the budget."""
