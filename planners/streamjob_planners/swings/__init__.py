"""Key groups that swing together from batch to batch: what they have in common, and placements that even it out."""
