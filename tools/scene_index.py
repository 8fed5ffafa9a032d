#!/usr/bin/env python3
"""Writes scenes/README.md, the index of the scenes in the order of what one learns.

    tools/scene_index.py                                    # writes the index
    tools/scene_index.py --check                            # exit code 1 if it is out of date
    tools/scene_index.py --time target/release/standoff OUT # runs all scenes first and records steps and CPU seconds
    tools/scene_index.py --pictures target/release/standoff OUT  # draws a picture of every run in OUT that is there

The sentences come from the first lines of each scene, the order from GROUPS, steps and seconds from
docs/scene-times.json, the pictures from docs/src/images/scenes. Only Python's standard library is used.
"""
import argparse, json, pathlib, re, shutil, subprocess, sys, tempfile

from standoff_tools import ROOT, stats
from standoff_tools.run import commit, run_scene

SCENES, TIMES = ROOT / "scenes", ROOT / "docs" / "scene-times.json"
PICTURES = ROOT / "docs" / "src" / "images" / "scenes"

# the moment of a picture, as a part of the run; 0.6 for all others
MOMENTS = {
    0.15: ["codim/card-shuffle", "papers/six-rollers", "codim/granules-on-cloth", "friction-slope-slide", "codim/cloth-on-slope", "rollers",
           "stress/animal-well", "stress/ball-on-plate", "stress/stiff-stack", "unit/tet-tet"],
    0.25: ["codim/all-in"],
    0.35: ["codim/reef-knot", "codim/sprinkles", "codim/tablecloth-pull", "codim/twisted-ring", "erleben/cube-cliff",
           "erleben/cube-internal-edges", "erleben/spike-plane", "erleben/spike-spike", "impact-ball", "orientation/cliff-edge",
           "orientation/compactor", "orientation/fine-ball", "orientation/funnel", "orientation/two-rings",
           "stress/fine-ball", "two-cubes-fall", "unit/cube-stack", "papers/squishy-balls-pressed", "rigid/dominoes",
           "machines/cable-through-ring"],
    0.85: ["ball-on-needles", "codim/braid", "codim/twisted-tube", "erleben/spike-crack", "erleben/spike-hole",
           "erleben/spike-wedge", "erleben/wedge-crack", "orientation/compressed-block", "planar/bowl", "planar/chi",
           "planar/corner", "stress/twisted-rods", "papers/ramen",
           "codim/cloth-pulled-off-needles"],
    1.0: ["codim/deck", "orientation/balloon"],
}
# where the camera stands, as a direction from the middle; scenes of two dimensions are seen from the front
VIEW = "0.8,0.45,1"
VIEWS = {"codim/noodles": "0.3,1,0.5", "stress/ball-on-plate": "1,0.25,0.3", "tunnelling-ball": "-1,0.4,1",
         "codim/sprinkles": "0.4,1,0.6", "erleben/cube-internal-edges": "0.8,0.6,1", "robots/panda-lifts": "1.2,0.9,-0.5",
         "robots/panda-lifts-cloth": "1.2,0.9,0.5", "machines/cable-through-ring": "0.4,0.35,1"}
# obstacles hide everything, or the scene takes too long
WITHOUT = ["stress/chain-rings", "papers/trash-compactor", "bench/drop-1m"]

GROUPS = [
    ("First steps", "Start here. Each scene has one new element.",
     ["two-cubes-fall", "rollers", "ball-on-needles", "twisted-mat"]),
    ("Friction", "Coefficients, thresholds, and the effect of smoothing.",
     ["friction-slope-stick", "friction-slope-slide", "friction-stick-slip", "codim/cloth-on-slope", "codim/tablecloth-pull"]),
    ("Speed and impact", "The time step determines the accuracy, but not whether bodies pass through each other.",
     ["tunnelling-ball", "impact-ball", "stress/ball-on-plate"]),
    ("Rigid bodies", "Bodies that keep their shape.",
     ["rigid/dominoes", "rigid/rings-on-cloth", "rigid/wrecking-ball", "rigid/gripper", "rigid/rubber-arm"]),
    ("Engineering", "Elements and loads of statics.", ["engineering/beam", "engineering/rubber-twist", "engineering/one-eighth",
     "engineering/laminate", "engineering/spring-back", "engineering/creep", "engineering/o-ring", "engineering/glued-pad", "engineering/soft-finger",
     "engineering/bimetal"]),
    ("Robots", "Robots from their files, among other bodies.", ["robots/panda-lifts", "robots/panda-lifts-cloth"]),
    ("Machines", "What is pulled, turned and pushed.", ["machines/cable-through-ring"]),
    ("Shells", "Cloth, cards and seams.",
     ["codim/cloth-on-needles", "codim/sewn-pillow", "codim/cloth-on-rotating-sphere", "codim/twisted-tube",
      "codim/tube-wall", "codim/cards", "codim/cloth-stack", "codim/deck", "codim/card-shuffle", "codim/reef-knot",
      "codim/cloth-on-ball", "codim/cloth-pulled-off-needles", "codim/cloths-through-funnel"]),
    ("Rods and particles", "Noodles, hairs, a ring and grains.",
     ["codim/noodles", "codim/sprinkles", "codim/braid", "codim/hair-clusters", "codim/twisted-ring", "codim/granules-on-cloth",
      "codim/all-in"]),
    ("Two dimensions", "Cross-sections: triangles under plane strain.", ["planar/bowl", "planar/rounded-block", "planar/slit", "planar/chi", "planar/corner"]),
    ("Degenerate contact", "Aligned corners, edges and faces, as unit tests.",
     ["unit/tet-tet", "unit/cube-stack", "unit/tet-slots", "erleben/cube-cliff", "erleben/cube-internal-edges",
      "erleben/spike-plane", "erleben/wedge-plane", "erleben/spike-spike", "erleben/spike-wedge", "erleben/wedge-wedge",
      "erleben/spike-crack", "erleben/wedge-crack", "erleben/spike-hole"]),
    ("Orientation-aware contact", "Contact distances larger than the edges of the mesh, without forces at rest.",
     ["orientation/two-blocks", "orientation/slit-block", "orientation/rounded-block", "orientation/fine-ball",
      "orientation/compressed-block", "orientation/balloon", "orientation/corner", "orientation/cliff-edge",
      "orientation/two-rings", "orientation/funnel", "orientation/compactor"]),
    ("Stress", "Extreme compression, many bodies and stiff bodies. Both solvers run these scenes.",
     ["stress/funnel", "stress/twisted-rods", "stress/chain-rings", "stress/stiff-stack", "stress/fine-ball",
      "stress/animal-well"]),
    ("Figures of the papers", "Scenes that follow single figures, with bodies of our own instead of those of the papers.",
     ["papers/squeeze-out", "papers/trash-compactor", "papers/six-rollers", "papers/card-house-hit", "papers/squishy-ball",
      "papers/squishy-balls-pressed", "papers/ramen", "papers/through-hole"]),
    ("Size", "For measuring time and memory.", ["bench/hang", "bench/drop-100k", "bench/drop-1m", "bench/plane-20k", "bench/solid-20k"]),
]

HEAD = """# Scenes

<!-- Written by tools/scene_index.py from the first lines of the scenes. Do not edit. -->

These scenes are examples to learn from, and the test suite runs all of them. They are ordered by what they teach. Each
file opens with sentences that say what happens, what you learn, and what to see.

```sh
standoff check scenes/two-cubes-fall.toml
standoff run scenes/two-cubes-fall.toml -o out/two-cubes-fall
```

A figure in brackets, such as [Li 2020, Fig. 19], is the figure of a paper that the scene follows
([references](../docs/src/references.md)). The [gallery](../docs/src/gallery/index.md) lists all figures of the papers,
and [Pictures](../docs/src/gallery/pictures.md) shows frames of some scenes.
"""
TIMED = """
The last two columns give the number of time steps and the CPU seconds of one thread, with the audit of every step.
`tools/scene_index.py --time` measured them on {machine} at commit {commit}. A scene without figures takes minutes.
"""


def sentences(path):
    """What happens, and what one learns, from the first lines of a scene."""
    lines = []
    for line in path.read_text().splitlines():
        if not line.startswith("#"):
            break
        lines.append(line.lstrip("#").strip())
    text = "\n".join(lines)
    learn = re.search(r"What you learn: (.*?)\nWhat to see: ", text, re.S)
    if not learn:
        sys.exit(f"{path.relative_to(ROOT)}: no lines `# What you learn: ` and `# What to see: `")
    learn = learn[1].replace("\n", " ")
    return text.split("\n\n")[0].replace("\n", " "), learn[0].upper() + learn[1:]


def index():
    names = {str(p.relative_to(SCENES).with_suffix("")): p for p in SCENES.rglob("*.toml")}
    listed = [n for _, _, group in GROUPS for n in group]
    if set(listed) != set(names) or len(listed) != len(set(listed)):
        wrong = set(listed) ^ set(names)
        sys.exit(f"tools/scene_index.py: GROUPS and the folder differ in {', '.join(sorted(wrong))}")
    times = json.loads(TIMES.read_text()) if TIMES.exists() else None
    text = HEAD
    if times:
        first, *later = dict.fromkeys(commit for _, _, commit in times["scenes"].values())
        text += TIMED.format(machine=times["machine"], commit=first + (f" (scenes added later: {', '.join(later)})" if later else ""))
    for heading, about, group in GROUPS:
        text += f"\n## {heading}\n\n{about}\n\n| scene | | what happens | what you learn |"
        text += " steps | CPU s |\n|---|---|---|---|---|---|\n" if times else "\n|---|---|---|---|\n"
        for name in group:
            what, learn = sentences(names[name])
            picture = PICTURES / f"{name}.png"
            shown = f"![{name}](../{picture.relative_to(ROOT)})" if picture.exists() else ""
            text += f"| [{name}]({name}.toml) | {shown} | {what} | {learn} |"
            if times:
                steps, seconds, _ = times["scenes"].get(name, ["", "", ""])
                text += f" {steps} | {seconds} |"
            text += "\n"
    return text


def measure(binary, out):
    machine = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    scenes, at = {}, commit()
    for name in (n for _, _, group in GROUPS for n in group):
        done = run_scene(binary, SCENES / f"{name}.toml", out / name)
        if done.code:
            sys.exit(f"{name}: {done.error}")
        steps = len(stats.reports(out / name))
        digits = 2 if done.cpu < 0.1 else 1 if done.cpu < 10 else 0
        scenes[name] = [steps, f"{done.cpu:.{digits}f}", at]
        print(name, *scenes[name], flush=True)
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(figures)}" for name, figures in scenes.items())
    TIMES.write_text(f'{{\n "machine": {json.dumps(machine)},\n "scenes": {{\n{lines}\n }}\n}}\n')


def draw(binary, out):
    moments = {name: moment for moment, names in MOMENTS.items() for name in names}
    for name in (n for _, _, group in GROUPS for n in group if n not in WITHOUT and (out / n / "run.json").exists()):
        is_planar = re.search(r"^dimension = ", (SCENES / f"{name}.toml").read_text(), re.M)
        view = [] if is_planar else ["--from", VIEWS.get(name, VIEW)]
        with tempfile.TemporaryDirectory() as folder:
            command = [binary, "render", out / name, "-o", folder, "--size", "240x180", *view, "--force"]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                sys.exit(f"{name}: {done.stderr.strip()}")
            frames = sorted(pathlib.Path(folder).glob("*.png"))
            target = PICTURES / f"{name}.png"
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(frames[round(moments.get(name, 0.6) * (len(frames) - 1))], target)
        print(name, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only say whether the index is up to date")
    parser.add_argument("--time", nargs=2, type=pathlib.Path, metavar=("BINARY", "OUT"), help="run all scenes first")
    parser.add_argument("--pictures", nargs=2, type=pathlib.Path, metavar=("BINARY", "OUT"), help="draw the runs in OUT")
    args = parser.parse_args()
    if args.time:
        measure(args.time[0].resolve(), args.time[1].resolve())
    if args.pictures:
        draw(args.pictures[0].resolve(), args.pictures[1].resolve())
    page, text = SCENES / "README.md", index()
    if not args.check:
        page.write_text(text)
    elif not page.exists() or page.read_text() != text:
        sys.exit(f"{page.relative_to(ROOT)} is out of date: run tools/scene_index.py")


if __name__ == "__main__":
    main()
