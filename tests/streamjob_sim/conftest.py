import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # sim_worlds, as importlib mode adds nothing by itself
