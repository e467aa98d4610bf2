"""`python -m streamjob_sim WORLD.yaml` is `streamjob simulate WORLD.yaml`."""

from streamjob_sim.command import simulate_command

simulate_command(prog_name="streamjob simulate")
