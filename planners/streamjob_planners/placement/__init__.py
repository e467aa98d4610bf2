"""Initial placements: where key groups go before anyone has moved any."""
