"""What operator and agent say to each other, and the cycle's memory beside it."""
