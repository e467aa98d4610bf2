"""`python -m streamjob_agent run job.py ARGUMENTS`."""

import sys

from streamjob_agent.runner import main

if __name__ == "__main__":
    main(sys.argv[1:])
