"""ALBIC: load balancing with integrated collocation (paper, section 4.3.2), as published and improved."""
