#!/usr/bin/env python3
"""Plots the total energy of runs over time, as shares of the first run's at its first step.

    tools/plot_energy.py PICTURE.png LABEL=RUN ... [--top SHARE]

Needs `pip install matplotlib`. RUN is a folder that `standoff run -o RUN` wrote.
"""
import argparse, json, pathlib

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

parser = argparse.ArgumentParser()
parser.add_argument("picture")
parser.add_argument("runs", nargs="+", metavar="LABEL=RUN")
parser.add_argument("--top", type=float, default=1.5, help="upper end of the axis of energy")
arguments = parser.parse_args()

PARTS = ["kinetic_energy", "elastic_energy", "gravity_energy", "contact_energy"]
figure, axes = plt.subplots(figsize=(8, 4.2), dpi=150)
unit = None
for run in arguments.runs:
    label, folder = run.split("=", 1)
    reports = [json.loads(line) for line in open(pathlib.Path(folder) / "stats.jsonl")]
    energy = [sum(report[part] for part in PARTS) for report in reports]
    unit = unit or energy[0]
    axes.plot([1e3 * r["time"] for r in reports], [e / unit for e in energy], label=label)
axes.set(xlabel="time, ms", ylabel="energy / energy at the start", ylim=(0, arguments.top))
axes.grid(alpha=0.3)
axes.legend()
figure.tight_layout()
figure.savefig(arguments.picture)
