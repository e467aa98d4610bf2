"""`python -m streamjob_agent run job.py ARGUMENTS`, the change of key groups, and two commands of Spark's plugin."""

import os
import sys

from streamjob_agent.runner import main
from streamjob_agent.submitted import bracket

if __name__ == "__main__":
    bracket(os.environ)
    # Imported when asked for: a job under `run` gets no module of ours that it does not need.
    if sys.argv[1:2] == ["jar"]:
        from streamjob_agent.plugin.jar import command

        sys.exit(command(sys.argv[2:]))
    if sys.argv[1:2] == ["repartition"]:
        from streamjob_agent.repartition.command import main as repartition

        sys.exit(repartition(sys.argv[2:]))
    if sys.argv[1:] == ["plugin"]:
        from streamjob_agent.plugin.child import live

        live()
    main(sys.argv[1:])
