#!/usr/bin/env python3
"""Times the building blocks of contact beside those of IPC Toolkit: same meshes, one thread, one run.

    cargo build --release -p standoff-sim --example building_blocks
    tools/compare_toolkit.py testdata/reference/toolkit_bench target/release/examples/building_blocks OUT
                             [--scenes spheres nested cloth] [--reuse]

Needs `pip install ipctk numpy scipy`. Writes OUT/compare.json and prints a table (Markdown) of CPU seconds,
IPC Toolkit / Standoff, and their ratio. The two programs take turns scene by scene, so that both see the
same machine. Candidates of IPC Toolkit are all pairs of overlapping boxes, those of Standoff leave out
pairs that a plane keeps apart, so what follows has fewer to look at; "together" rows compare sums.
--reuse takes IPC Toolkit's last results in OUT instead of running it again."""
import argparse, json, os, pathlib, sys

from standoff_tools.run import measure
from standoff_tools.stats import json_lines
from standoff_tools.tables import geometric_mean, head, row

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("toolkit_bench", type=pathlib.Path, help="folder of bench_ipctk.py and dump_meshes.py")
parser.add_argument("binary", type=pathlib.Path)
parser.add_argument("out", type=pathlib.Path)
parser.add_argument("--scenes", nargs="*", default=["spheres", "nested", "cloth"])
parser.add_argument("--reuse", action="store_true")
args = parser.parse_args()
D_HAT = {"spheres": 0.01, "nested": 0.01, "cloth": 0.006}

# a row: name, what to sum of IPC Toolkit's, what to sum of ours, the ratio to reach
ROWS = [
    ("candidates", ["candidates_static_default"], ["candidates"], 1.5),
    ("candidates, trees kept", ["candidates_static_default"], ["candidates, kept trees"], None),
    ("collision set", ["collisions_from_candidates"], ["collision set"], 2),
    ("candidates and collision set together", ["candidates_static_default", "collisions_from_candidates"],
     ["candidates", "collision set"], None),
    ("energy", ["energy"], ["energy"], None),
    ("gradient", ["gradient"], ["gradient"], None),
    ("Hessian, projected", ["hessian_clamp"], ["Hessian"], 10),
    ("friction Hessian", ["friction_hessian_clamp"], ["friction Hessian"], 10),
    ("swept candidates", ["candidates_ccd_default"], ["swept candidates"], None),
    ("step size, additive CCD", ["stepsize_additive"], ["step size, additive"], 3),
    ("swept candidates and step size together", ["candidates_ccd_default", "stepsize_additive"],
     ["swept candidates", "step size, additive"], None),
    ("intersection test", ["has_intersections"], ["intersection test"], 2),
]

args.out.mkdir(parents=True, exist_ok=True)
folder, out = args.toolkit_bench.resolve(), args.out.resolve()
python = dict(os.environ, PYTHONPATH=str(folder), OMP_NUM_THREADS="1")


def run(command):
    done = measure(command, cwd=out, env=python)
    if done.code:
        sys.exit(f"{' '.join(map(str, command))}\n{done.error}")
    return done.printed


def last_result(scene):
    return [r for r in json_lines(out / "bench_results.jsonl") if r["scene"] == scene][-1]


binary = args.binary.resolve()
results, ratios = {}, {name: [] for name, *_ in ROWS}
for scene in args.scenes:
    if not (out / f"{scene}_t1.obj").exists():
        run([sys.executable, folder / "dump_meshes.py", out, scene])
    if not args.reuse:
        run([sys.executable, folder / "bench_ipctk.py", "1", scene])
    theirs, ours = last_result(scene), json.loads(run([binary, out, scene, D_HAT[scene]]))
    results[scene] = {"toolkit": theirs, "standoff": ours, "ratio": {}}
    for name, a, b, _ in ROWS:
        pair = sum(theirs["t"][k][1] for k in a), sum(ours["seconds"][k] for k in b)
        ratio = pair[0] / pair[1]
        results[scene]["ratio"][name] = {"toolkit": pair[0], "standoff": pair[1], "ratio": ratio}
        ratios[name].append(ratio)

(out / "compare.json").write_text(json.dumps(results, indent=1) + "\n")
head("CPU s, IPC Toolkit / Standoff (ratio)", *args.scenes, "geometric mean", "to reach")
for name, _, _, target in ROWS:
    cells = []
    for scene in args.scenes:
        r = results[scene]["ratio"][name]
        cells.append(f"{r['toolkit']:.3g} / {r['standoff']:.3g} ({r['ratio']:.1f})")
    row(name, *cells, f"{geometric_mean(ratios[name]):.1f}", f"≥ {target}" if target else "")
