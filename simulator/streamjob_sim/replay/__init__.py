"""A job's own past, run again by the real controller under other rules and policies."""
