"""The reports that a run writes, one for each step, and what they add up to."""
import json, math, pathlib


def json_lines(path):
    """The objects of a file with one in each line; none where it is absent. A last line that a running program has not finished is left out."""
    path = pathlib.Path(path)
    lines = path.read_text().splitlines() if path.exists() else []
    return [json.loads(line) for line in lines if line.endswith("}")]


def reports(folder):
    """The reports of the run in a folder."""
    return json_lines(pathlib.Path(folder) / "stats.jsonl")


def info(folder):
    """What run.json says of the run in a folder."""
    return json.loads((pathlib.Path(folder) / "run.json").read_text())


def total(found, key):
    """The sum of a figure over the steps."""
    return sum(r[key] for r in found)


def mean(found, key):
    """The mean of a figure over the steps."""
    return total(found, key) / max(len(found), 1)


def most(found, key):
    """The largest value of a figure, 0 without steps."""
    return max((r[key] for r in found), default=0)


def iterations(found):
    """Newton iterations of all steps."""
    return total(found, "newton_iterations")


def contacts(found):
    """The most contacts that any step had at a time."""
    return most(found, "max_contacts")


def unconverged(found, fine=("converged",)):
    """The number of steps whose outcome is none of the fine ones."""
    return sum(r["outcome"] not in fine for r in found)


def gap(found):
    """The smallest gap, NaN where there was never one."""
    return min((r["min_gap"] for r in found if r["min_gap"]), default=math.nan)


def seconds(found, phase="total"):
    """Wall seconds of a phase of the steps."""
    return sum(r["seconds"][phase] for r in found)
