"""The planner `auto`: it looks at the job's own series and traffic, and asks whom the tournament found best for it."""
