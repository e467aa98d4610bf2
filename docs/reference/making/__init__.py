"""What the pages of docs/reference/ are made of."""
