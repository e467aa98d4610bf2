"""The API server: how it is reached, asked, and written to."""
