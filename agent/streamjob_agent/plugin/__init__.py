"""The agent as a plugin of Spark (`spark.plugins`): the door for drivers that are not Python's."""
