"""What there is to choose from, by kind, in words for a person."""
