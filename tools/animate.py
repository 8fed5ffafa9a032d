#!/usr/bin/env python3
"""Renders the frames of a run as an animated picture (GIF), with the camera of tools/render.py at rest.

    tools/animate.py RUN PICTURE.gif --extent M --look X,Y,Z [--every N] [--seconds S] [--colours N] [options of render.py]

Needs `pip install pyvista pillow`. RUN is a folder that `standoff run -o RUN` wrote.
"""
import argparse, pathlib, subprocess, sys, tempfile

from PIL import Image

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("run", type=pathlib.Path)
parser.add_argument("picture", type=pathlib.Path)
parser.add_argument("--every", type=int, default=1, help="every how many steps a frame is taken")
parser.add_argument("--seconds", type=float, default=0.08, help="how long a frame is shown")
parser.add_argument("--colours", type=int, default=96)
parser.add_argument("--size", default="720x360")
args, others = parser.parse_known_args()

render = pathlib.Path(__file__).with_name("render.py")
steps = sorted(int(p.stem) for p in (args.run / "frames").glob("*.vtu"))[:: args.every]
pictures = []
with tempfile.TemporaryDirectory() as folder:
    for step in steps:
        file = pathlib.Path(folder) / f"{step:06}.png"
        command = [sys.executable, render, args.run, str(step), file, "--size", args.size, *others]
        subprocess.run(command, check=True)
        pictures.append(Image.open(file).convert("RGB"))
# one palette for all frames, so that colours do not flicker
sheet = Image.new("RGB", (pictures[0].width, pictures[0].height * 6))
for k in range(6):
    sheet.paste(pictures[k * (len(pictures) - 1) // 5], (0, k * pictures[0].height))
palette = sheet.quantize(args.colours, method=Image.Quantize.MEDIANCUT)
frames = [p.quantize(palette=palette, dither=Image.Dither.NONE) for p in pictures]
milliseconds = [round(1000 * args.seconds)] * (len(frames) - 1) + [1500]
frames[0].save(args.picture, save_all=True, append_images=frames[1:], duration=milliseconds, loop=0, optimize=True)
