"""The rivals that the ALBIC paper compares with, as real implementations."""
