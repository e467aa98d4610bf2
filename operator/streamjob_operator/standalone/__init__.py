"""The loop's body on a laptop: the agent's endpoint, a file for the memory, a child process for the job."""
