"""The command `streamjob`, above all other rooms: it offers what each of them can do."""
