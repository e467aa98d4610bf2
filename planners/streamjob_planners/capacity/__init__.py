"""What each executor can take: from blocking rates, or from what the same key groups took on several executors."""
