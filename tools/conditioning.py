#!/usr/bin/env python3
"""Condition numbers of the linear systems of both solvers while a ball is pressed flat [Zheng 2025, Fig. 24], as a table (Markdown).

    tools/conditioning.py target/release/standoff OUT [--layers 6]

The ball is pressed between two moving plates, by the barrier-free solver, by the barrier with κ by default, and with κ adapted to the masses
alone, as the IPC 2020 reference does (`contact.adaptation = "conditioning"`). At the end of chosen steps the script computes the matrix of the
next linear system from the positions in the frame: M/h² + K + C. M holds the masses, K the Hessian of the elastic energy with every
element projected onto positive semidefinite matrices, and C the curvature of contact. For the barrier C is κ ∂²b/∂d² of each vertex
closer than d̂ to a plate, with κ from stats.jsonl; for the barrier-free solver it is the penalty of each vertex that carries a contact force, the
multiple 0.1 of [Zheng 2025, Eq. 20] or 10, the default, of the largest diagonal entry of M/h² + K. Condition numbers are those of the matrices and of
the matrices scaled by their 3 × 3 diagonal blocks, which is what conjugate gradients see with a block-Jacobi preconditioner.

Needs `pip install numpy pyvista`.
"""
import argparse, pathlib, sys

import numpy as np
import pyvista as pv

from standoff_tools import stats
from standoff_tools.run import run_scene
from standoff_tools.tables import head, row, scientific

STEP, D_HAT, YOUNG, POISSON, DENSITY, RADIUS, SPEED = 0.01, 1e-3, 1e5, 0.3, 100.0, 0.1, 0.1
SCENE = """gravity = [0, 0, 0]
time = {{ step = {h}, end = 0.9 }}
contact = {{ d_hat = {d} }}
[[objects]]
name = "ball"
shape = {{ kind = "sphere", radius = {r}, layers = {layers} }}
material = {{ young_modulus = {e}, poisson_ratio = {nu}, density = {rho} }}
[[objects]]
name = "lower"
role = "obstacle"
shape = {{ kind = "plane", size = [0.8, 0.8] }}
translate = [0.0123, {low}, 0.0345]
[[objects.motion]]
velocity = [0, {v}, 0]
[[objects]]
name = "upper"
role = "obstacle"
shape = {{ kind = "plane", size = [0.8, 0.8] }}
translate = [0.0123, {high}, 0.0345]
[[objects.motion]]
velocity = [0, -{v}, 0]
"""
METHODS = {"barrier": ["solver.method=barrier"], "published": ["solver.method=barrier", "contact.adaptation=conditioning"],
           "barrier-free": ["solver.method=barrier-free", 'solver.barrier_free.fallback="none"']}


def frame(run, step):
    return pv.read(run / "frames" / f"{step:06}.vtu")


def stiffness(rest, x, tets):
    """M/h² + K and the number of degrees of freedom."""
    dm = np.stack([rest[tets[:, k]] - rest[tets[:, 0]] for k in (1, 2, 3)], axis=2)
    inverse, volume = np.linalg.inv(dm), np.linalg.det(dm) / 6
    f = np.stack([x[tets[:, k]] - x[tets[:, 0]] for k in (1, 2, 3)], axis=2) @ inverse
    mu, lam = YOUNG / (2 * (1 + POISSON)), YOUNG * POISSON / ((1 + POISSON) * (1 - 2 * POISSON))
    g = np.linalg.inv(f)
    log = np.log(np.linalg.det(f))
    # ∂P_ij/∂F_kl of P = μ (F − F⁻ᵀ) + λ ln J F⁻ᵀ
    one = np.eye(3)
    d = mu * np.einsum("ik,jl->ijkl", one, one) + np.einsum("n,njk,nli->nijkl", mu - lam * log, g, g) + lam * np.einsum("nji,nlk->nijkl", g, g)
    values, vectors = np.linalg.eigh(d.reshape(-1, 9, 9))
    d = np.einsum("nij,nj,nkj->nik", vectors, np.maximum(values, 0), vectors).reshape(-1, 3, 3, 3, 3)
    # ∂F_ij/∂x_vi = B_vj
    b = np.concatenate([-inverse.sum(axis=1, keepdims=True), inverse], axis=1)
    blocks = np.einsum("n,nvj,nijkl,nwl->nviwk", volume, b, d, b)
    n = len(x)
    matrix = np.zeros((n, 3, n, 3))
    for v in range(4):
        for w in range(4):
            np.add.at(matrix, (tets[:, v], slice(None), tets[:, w]), blocks[:, v, :, w, :])
    mass = np.zeros(n)
    np.add.at(mass, tets.ravel(), np.repeat(DENSITY * volume / 4, 4))
    for k in range(3):
        matrix[np.arange(n), k, np.arange(n), k] += mass / STEP**2
    return matrix.reshape(3 * n, 3 * n)


def condition(matrix):
    """Condition number, and that after scaling by the diagonal blocks."""
    values = np.linalg.eigvalsh(matrix)
    n = len(matrix) // 3
    blocks = matrix.reshape(n, 3, n, 3)[np.arange(n), :, np.arange(n), :]
    scale = np.linalg.inv(np.linalg.cholesky(blocks))
    half = np.einsum("nij,njm->nim", scale, matrix.reshape(n, 3, 3 * n)).reshape(3 * n, n, 3)
    scaled = np.linalg.eigvalsh(np.einsum("mnj,nij->mni", half, scale).reshape(3 * n, 3 * n))
    return values[-1] / values[0], scaled[-1] / scaled[0]


def with_barrier(matrix, gaps, kappa):
    """The matrix with the curvature of the barrier at the vertices near a plate."""
    near = np.flatnonzero(gaps < D_HAT)
    s, limit = gaps[near] ** 2, D_HAT**2
    # b = −(s − ŝ)² ln(s/ŝ) of the squared distance s
    first = -2 * (s - limit) * np.log(s / limit) - (s - limit) ** 2 / s
    second = -2 * np.log(s / limit) - 4 * (s - limit) / s + (s - limit) ** 2 / s**2
    rows = 3 * near + 1
    pressed = matrix.copy()
    pressed[rows, rows] += kappa * np.maximum(0, 4 * s * second + 2 * first)
    return pressed


def cells_of(method, end, rest, tets, kappa):
    """The cells of a step by one method: condition numbers, with a barrier also the smallest gap."""
    n = len(rest)
    x = end.points[:n]
    matrix = stiffness(rest, x, tets)
    if method != "barrier-free":
        gaps = np.minimum(x[:, 1] - end.points[n:, 1].min(), end.points[n:, 1].max() - x[:, 1])
        return [scientific(c) for c in (gaps.min(), *condition(with_barrier(matrix, gaps, kappa)))]
    rows = 3 * np.flatnonzero(np.abs(end.point_data["contact_force"][:n, 1]) > 0) + 1
    cells, largest = [], matrix.diagonal().max()
    for factor in (0.1, 10.0):
        pressed = matrix.copy()
        pressed[rows, rows] += factor * largest
        cells += [scientific(c) for c in condition(pressed)]
    return cells


def compute(args):
    """The runs of all methods, and their reports; a run that is there is not repeated."""
    scene, gap = args.out / "pressed-ball.toml", RADIUS + 2 * D_HAT
    scene.write_text(SCENE.format(h=STEP, d=D_HAT, r=RADIUS, layers=args.layers, e=YOUNG, nu=POISSON, rho=DENSITY, low=-gap, high=gap, v=SPEED))
    runs = {method: args.out / f"pressed-{method}-{args.layers}" for method in METHODS}
    for method, sets in METHODS.items():
        if not (runs[method] / "frames" / "000090.vtu").exists():
            done = run_scene(args.standoff, scene, runs[method], sets=sets)
            if done.code:
                sys.exit(f"{method}: {done.error}")
    return runs, {method: stats.reports(run) for method, run in runs.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("standoff", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--layers", type=int, default=6, help="layers of the ball")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    runs, reports = compute(args)
    start = frame(runs["barrier"], 0)
    tets = start.cells_dict[pv.CellType.TETRA]
    rest = start.points[:tets.max() + 1]
    print(f"A ball of {len(rest)} vertices and {len(tets)} tetrahedra:\n")
    head("distance of the plates, mm", "barrier: smallest gap, m", "condition", "scaled", "κ of the reference: smallest gap, m", "condition", "scaled",
         "barrier-free, C = 0.1: condition", "scaled", "C = 10: condition", "scaled")
    for step in (5, 20, 40, 60, 80, 90):
        cells = [c for method in runs for c in cells_of(method, frame(runs[method], step), rest, tets, reports[method][step - 1]["kappa"])]
        row(f"{1e3 * (2 * RADIUS + 4 * D_HAT - 2 * SPEED * STEP * step):.0f}", *cells)


if __name__ == "__main__":
    main()
