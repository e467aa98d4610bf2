"""What may go wrong around the operator, one by one, and what comes of it: `make faults`."""
