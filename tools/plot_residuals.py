#!/usr/bin/env python3
"""Draws the residuals that the benchmark `dot_experiments -- residual` prints, by iteration.

    cargo run --release -p standoff-bench --example dot_experiments -- residual 16 | tools/plot_residuals.py -o residual.svg

Needs matplotlib."""

import argparse
import sys


def read(lines):
    """Iterations and norms of each solver, from the rows of the printed table."""
    curves = {}
    for line in lines:
        cells = [c.strip() for c in line.strip().strip("|").split("|")]
        if len(cells) == 4 and cells[1].isdigit():
            curves.setdefault(cells[0], []).append((int(cells[1]), float(cells[2])))
    return curves


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", required=True, help="file to write: SVG, PNG or PDF by its ending")
    arguments = parser.parse_args()
    curves = read(sys.stdin)
    if not curves:
        sys.exit("no residuals on standard input: pipe what `dot_experiments -- residual` prints into this program")
    try:
        import matplotlib
    except ImportError:
        sys.exit("matplotlib is not installed: pip install matplotlib")
    matplotlib.use("svg")
    import matplotlib.pyplot as plt
    figure, axis = plt.subplots(figsize=(6.4, 3.8))
    for name, points in curves.items():
        axis.semilogy(*zip(*points), "o-", markersize=3, label=name)
    axis.axhline(1e-5, color="grey", linestyle=":")
    axis.set(xlabel="iterations", ylabel="characteristic norm")
    axis.grid(alpha=0.3)
    axis.legend(fontsize="small")
    figure.tight_layout()
    figure.savefig(arguments.output)


if __name__ == "__main__":
    main()
