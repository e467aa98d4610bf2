"""When a cycle is due: at the latest after each statistics period, earlier when something has happened. Pure."""
