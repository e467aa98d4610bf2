"""The agent in the user's Spark driver: measures key groups, places them, never breaks the job."""
