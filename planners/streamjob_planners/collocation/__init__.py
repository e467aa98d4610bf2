"""Traffic between key groups: as a graph, cut into parts, walked towards a placement, and what a remote byte costs."""
