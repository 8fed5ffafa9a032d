"""What the scripts of this folder share: `run` starts Standoff and measures it, `stats` reads the reports of a run, `frames` its frames, `scenes` the lists of
scenes in `tools/data`, `tables` prints Markdown. Numpy and the Python package of Standoff are needed where frames are read, nothing else anywhere."""
import json, pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = ROOT / "tools"


def data(name):
    """What the file tools/data/NAME.json holds. Its entry `from` says where the numbers come from."""
    return json.loads((TOOLS / "data" / f"{name}.json").read_text())
