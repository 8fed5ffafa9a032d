#!/usr/bin/env python3
"""Draws the pictures of docs/src/gallery whose scenes follow single figures of the papers.

    tools/gallery_pictures.py target/release/standoff OUT [NAME ...]     # all of them, or some: funnel, hair, ...

The scenes are run first, unless OUT holds their runs already. Every picture consists of panels by tools/render.py, which are joined and
written with 256 colours. Needs `pip install pyvista pillow`.
"""
import argparse, pathlib, subprocess, sys

from PIL import Image

from standoff_tools import ROOT, TOOLS
from standoff_tools.run import scene_command

IMAGES = ROOT / "docs" / "src" / "images"

# name: columns, size of a panel, and for each panel scene, step and options of tools/render.py
FUNNEL = ["--view", "0.5,0.55,1", "--look", "0,0,0", "--extent", "0.62", "--obstacle-opacity", "0.35"]
HAIR = ["--view", "0.35,0.35,1", "--look", "0.01,-0.06,0", "--extent", "0.34", "--thick", "0.00075"]
NEEDLES = ["--view", "0.35,0.35,1", "--look=-0.18,-0.01,0", "--extent", "0.55", "--thick", "0.002"]
SQUEEZE = ["--view", "0.5,0.12,1", "--look=0,-0.34,0", "--extent", "1.78", "--obstacle-opacity", "0.25", "--bodies"]
COMPACTOR = ["--view", "0.8,0.45,1", "--look", "0,0,0", "--extent", "0.8", "--obstacle-opacity", "0.12", "--bodies"]
SQUISHY = ["--look=-0.03,0,0", "--extent", "0.21", "--stress", "30000"]
PRESSED = ["--view", "0.25,0.22,1", "--look", "0,0.06,0", "--extent", "0.34", "--obstacle-opacity", "0.25", "--bodies"]
ROLLERS = ["--view", "0.55,0.3,1", "--look", "0,0.85,0", "--extent", "1.7", "--obstacle-opacity", "0.25", "--stress", "400000"]
HOUSE = ["--view", "0.45,0.35,1", "--look", "0.21,0.3,0", "--extent", "1.35", "--bodies", "--ground=-0.2425"]
RAMEN = ["--view", "0.9,0.35,0.7", "--look", "0,0.02,0", "--extent", "0.31", "--obstacle-opacity", "0.4", "--bodies"]
HOLE = ["--view", "0.6,0.2,1", "--look", "0,0.2,0", "--extent", "3.6", "--obstacle-opacity", "0.45", "--stress", "8000000"]
TUBE = ["--view", "0.2,0.35,1", "--look", "0,0,0", "--extent", "0.31", "--bodies"]
RODS = ["--view", "0,0.35,1", "--look", "0,0,0", "--extent", "0.29", "--bodies"]
BALL = ["--view", "0.8,0.35,1", "--look", "0.25,0.45,0.25", "--extent", "2.7", "--stress", "20000"]
PICTURES = {
    "funnel": (3, "420x420", [("codim/cloths-through-funnel", k, FUNNEL) for k in (20, 28, 33)]),
    "hair": (3, "420x360", [("codim/hair-clusters", k, HAIR) for k in (0, 16, 60)]),
    "needles": (3, "420x260", [("codim/cloth-pulled-off-needles", k, NEEDLES) for k in (45, 55, 63)]),
    "squeeze-out": (4, "300x600", [("papers/squeeze-out", k, SQUEEZE) for k in (0, 30, 42, 108)]),
    "compactor": (3, "420x400", [("papers/trash-compactor", k, COMPACTOR) for k in (0, 50, 100)]),
    "squishy-ball": (4, "330x330", [("papers/squishy-ball", k, [*SQUISHY, "--view", "0.15,0.2,1"]) for k in (0, 18, 25)]
                     + [("papers/squishy-ball", 18, [*SQUISHY, "--view", "1,0.05,0.1", "--obstacle-opacity", "0.15"])]),
    "squishy-balls": (3, "420x300", [("papers/squishy-balls-pressed", k, PRESSED) for k in (0, 40, 52)]),
    "six-rollers": (3, "420x420", [("papers/six-rollers", k, ROLLERS) for k in (4, 44, 104)]),
    "card-house-hit": (4, "330x360", [("card-house", k, HOUSE) for k in (27, 28, 31, 60)]),
    "ramen": (4, "330x360", [("papers/ramen", k, RAMEN) for k in (35, 50, 100, 108)]),
    "through-hole": (4, "330x480", [("papers/through-hole", k, HOLE) for k in (0, 35, 65, 74)]),
    "rods": (2, "630x190", [("rods", k, RODS) for k in (200, 500, 1000, 1500)]),
    "ball-rollers": (3, "320x320", [(run, k, [*BALL, *more]) for run, more in (("ball-triangles", ["--obstacle-opacity", "0.3"]),
                                    ("ball-segments", ["--obstacle-opacity", "0.5", "--thick", "0.003"])) for k in (75, 200, 300)]),
    "tube": (3, "420x260", [(run, k, [*TUBE, *more]) for run, more in (("tube-wall", []), ("tube-shell", []))
                            for k in (5, 40, 100)]),
}
# runs that are not those of a scene as it is: those that tools/paper_studies.py leaves in its folder
STUDIES = {"card-house": "card-house-19", "rods": "rods-30", "ball-triangles": "ball-8_rollerBall", "ball-segments": "ball-18_segRollerBall",
           "tube-wall": "tube-wall-48", "tube-shell": "tube-shell-48"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("standoff", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("names", nargs="*", metavar="NAME")
    args = parser.parse_args()
    if unknown := set(args.names) - set(PICTURES):
        sys.exit(f"no picture {', '.join(unknown)}; there are {', '.join(PICTURES)}")
    for name in args.names or PICTURES:
        columns, size, panels = PICTURES[name]
        pictures = []
        for number, (scene, step, options) in enumerate(panels):
            run = args.out / STUDIES.get(scene, scene)
            if not (run / "frames" / f"{step:06}.vtu").exists():
                if scene in STUDIES:
                    study = {"tube-": "tube", "ball-": "ball-rollers"}.get(scene[:5], scene)
                    command = [sys.executable, TOOLS / "paper_studies.py", study, args.standoff, args.out]
                else:
                    command = scene_command(args.standoff, ROOT / "scenes" / f"{scene}.toml", run)
                subprocess.run(command, check=True)
            panel = args.out / f"{name}-{number}.png"
            subprocess.run([sys.executable, TOOLS / "render.py", run, str(step), panel, "--size", size, *options], check=True)
            pictures.append(Image.open(panel).convert("RGB"))
        wide, high = pictures[0].size
        rows = -(-len(pictures) // columns)
        joined = Image.new("RGB", (columns * wide, rows * high), "#f7f7f5")
        for k, picture in enumerate(pictures):
            joined.paste(picture, (k % columns * wide, k // columns * high))
        target = IMAGES / f"papers-{name}.png"
        palette = joined.quantize(256, method=Image.Quantize.MAXCOVERAGE, kmeans=1)
        joined.quantize(palette=palette, dither=Image.Dither.FLOYDSTEINBERG).save(target, optimize=True)
        print(f"{target.relative_to(ROOT)}: {joined.size[0]} × {joined.size[1]}, {target.stat().st_size // 1024} kB", flush=True)


if __name__ == "__main__":
    main()
