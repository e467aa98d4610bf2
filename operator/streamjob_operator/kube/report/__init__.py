"""What a StreamJob tells: conditions, events, and the rest of its status."""
