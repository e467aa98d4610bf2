"""ELB, eager load balancing: once per window, from overloaded nodes to underloaded ones only."""
