"""Jobs of the other papers, as their sections describe them."""
