#!/usr/bin/env python3
"""Renders a frame of a run: volumes coloured by von Mises stress or by body, shells, rods and particles by
body or by --field, obstacles grey, on a light ground.

    tools/render.py RUN STEP PICTURE.png [--size 1600x900] [--view X,Y,Z] [--zoom Z] [--up X,Y,Z]
                    [--look X,Y,Z] [--extent M] [--clim PERCENTILE | --stress PA] [--ground HEIGHT] [--edges] [--thick RADIUS]
                    [--bodies] [--cut] [--field NAME --range LOW,HIGH]

Needs `pip install pyvista pillow`. RUN is a folder that `standoff run -o RUN` wrote.
"""
import argparse, pathlib

import numpy as np
import pyvista as pv

from standoff_tools import stats


def vector(text):
    return tuple(float(x) for x in text.split(","))


parser = argparse.ArgumentParser()
parser.add_argument("run", type=pathlib.Path)
parser.add_argument("step", type=int)
parser.add_argument("picture")
parser.add_argument("--size", default="1600x900")
parser.add_argument("--view", type=vector, default=(1, 0.6, 1.4), help="direction to the camera")
parser.add_argument("--up", type=vector, default=(0, 1, 0))
parser.add_argument("--look", type=vector, help="point in the middle; default: centre of what deforms")
parser.add_argument("--zoom", type=float, default=1.0)
parser.add_argument("--extent", type=float, help="size of what is in view, m; default: that of the frame")
parser.add_argument("--clim", type=float, default=98, help="percentile of the stress at full colour")
parser.add_argument("--stress", type=float, help="stress at full colour, Pa, instead of --clim")
parser.add_argument("--colours", default="turbo", help="colour map of matplotlib")
parser.add_argument("--ground", type=float, help="height of a ground plane to draw")
parser.add_argument("--edges", action="store_true", help="draw the elements")
parser.add_argument("--thick", type=float, default=0.004, help="radius of wires, m")
parser.add_argument("--cut", action="store_true", help="only the half of the tetrahedra at z below the middle")
parser.add_argument("--bodies", action="store_true", help="a colour for each body instead of stress")
parser.add_argument("--field", help="array of cells by which shells, rods and particles are coloured")
parser.add_argument("--range", type=vector, default=(1, 1.06), help="values of --field at the ends")
parser.add_argument("--obstacle-opacity", type=float, default=1.0)
args = parser.parse_args()

frame = pv.read(args.run / "frames" / f"{args.step:06}.vtu")
types = frame.celltypes
bodies = stats.info(args.run)["bodies"]
obstacle = np.array([b["obstacle"] for b in bodies])[frame.cell_data["body"]]
tets = frame.extract_cells(np.flatnonzero(types == pv.CellType.TETRA))
deformable = frame.extract_cells(np.flatnonzero(~obstacle))
if args.cut:
    tets = tets.extract_cells(np.flatnonzero(tets.cell_centers().points[:, 2] < deformable.center[2]))

size = tuple(int(x) for x in args.size.split("x"))
pv.global_theme.font.family = "arial"
plot = pv.Plotter(off_screen=True, window_size=size, lighting="none")
plot.set_background("#f7f7f5")
look = dict(show_scalar_bar=False, smooth_shading=True, specular=0.25, specular_power=25, ambient=0.42,
            diffuse=0.62, edge_color="#303030", line_width=1)
if tets.n_cells:
    stress = tets.cell_data["von_mises"]
    # nodal averages of the stress: the picture of a smooth field
    smooth = tets.cell_data_to_point_data()
    if args.bodies:
        smooth.cell_data["body"] = tets.cell_data["body"]
    surface = smooth.extract_surface(algorithm="dataset_surface")
    surface = surface.compute_normals(feature_angle=35, split_vertices=True)
    if args.bodies:
        used, index = np.unique(surface.cell_data["body"], return_inverse=True)
        # neighbours in the list far apart in colour
        surface.cell_data["colour"] = index * 7 % 20 if len(used) > 4 else index * 3
        colouring = dict(scalars="colour", cmap="tab20", clim=(0, 19))
    else:
        colouring = dict(scalars="von_mises", cmap=args.colours,
                         clim=(0, args.stress or float(np.percentile(stress, args.clim)) or 1))
    plot.add_mesh(surface, **colouring, **look, show_edges=args.edges)
for kind in (pv.CellType.TRIANGLE, pv.CellType.LINE, pv.CellType.VERTEX):
    for still in (True, False):
        cells = np.flatnonzero((types == kind) & (obstacle == still))
        if not len(cells):
            continue
        part = frame.extract_cells(cells)
        part.cell_data["colour"] = part.cell_data["body"] * 7 % 20
        if kind == pv.CellType.TRIANGLE:
            part = part.extract_surface(algorithm="dataset_surface")
            part = part.compute_normals(feature_angle=30, split_vertices=True)
        elif kind == pv.CellType.LINE:
            radius = part.cell_data["radius"].max() if "radius" in part.cell_data else 0
            part = part.extract_geometry().tube(radius=radius or args.thick, capping=True)
        elif "radius" in part.cell_data:
            part = pv.PolyData(part.points).glyph(
                geom=pv.Sphere(radius=part.cell_data["radius"].max()), scale=False, orient=False)
        if still:
            plot.add_mesh(part, color="#b8bcc2", smooth_shading=True, specular=0.2, ambient=0.3, diffuse=0.7,
                          opacity=args.obstacle_opacity, point_size=8, render_points_as_spheres=True)
            continue
        if args.field:
            colouring = dict(scalars=args.field, cmap=args.colours, clim=args.range)
        elif "colour" in part.cell_data:
            colouring = dict(scalars="colour", cmap="tab20", clim=(0, 19))
        else:
            colouring = dict(color="#c8a45c")
        plot.add_mesh(part, **colouring, **look, show_edges=args.edges)

low, high = np.array(deformable.bounds[::2]), np.array(deformable.bounds[1::2])
centre = np.array(args.look) if args.look else 0.5 * (low + high)
extent = args.extent or np.linalg.norm(high - low)
if args.ground is not None:
    plane = pv.Plane(center=(centre[0], args.ground, centre[2]), direction=(0, 1, 0),
                     i_size=40 * extent, j_size=40 * extent)
    plot.add_mesh(plane, color="#e4e5e3", ambient=0.55, diffuse=0.5)
direction = np.array(args.view) / np.linalg.norm(args.view)
plot.camera.focal_point = centre
plot.camera.position = centre + 2.2 * extent / args.zoom * direction
plot.camera.up = args.up
plot.camera.view_angle = 26
side = np.cross(np.array(args.up), direction)
for offset, strength in ((1.2 * direction + 1.5 * np.array(args.up) + 0.8 * side, 0.85),
                         (direction - 1.2 * side, 0.5), (-0.6 * direction + np.array(args.up), 0.25)):
    plot.add_light(pv.Light(position=centre + 6 * extent * offset, focal_point=centre,
                            intensity=strength, light_type="scene light"))
plot.enable_anti_aliasing("ssaa")
if args.ground is not None or (types == pv.CellType.TRIANGLE).any():
    plot.enable_ssao(radius=0.12 * extent, kernel_size=96, blur=True)
image = plot.screenshot(return_img=True)

from PIL import Image

# full colour where that takes less than 150 kB, else 256 dithered colours
picture = Image.fromarray(image[:, :, :3])
picture.save(args.picture, optimize=True)
if pathlib.Path(args.picture).stat().st_size > 150_000:
    palette = picture.quantize(256, method=Image.Quantize.MAXCOVERAGE, kmeans=1)
    picture.quantize(palette=palette, dither=Image.Dither.FLOYDSTEINBERG).save(args.picture, optimize=True)
