"""Advice about a query's keys: which operators to key alike, what each shuffle costs, which rewrite would save what."""
