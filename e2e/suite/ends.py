"""A driver's program that ends as its argument says: `fail`, `hoard` memory, or `wait`."""

import sys
import time

if sys.argv[1] == "fail":
    raise ValueError("no such topic: clicks")
if sys.argv[1] == "hoard":
    held = [bytearray(64 * 2**20) for _ in range(64)]
time.sleep(3600.0)
