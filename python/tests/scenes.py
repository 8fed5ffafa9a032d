"""Scenes that the tests share."""

import numpy as np

import standoff


def blocks(material=None, **sections):
    """A block that falls on a plate, which can be moved, above the ground, with a push and a held corner."""
    block = {
        "name": "block",
        "shape": {"kind": "box", "size": [0.2, 0.2, 0.2], "cells": [2, 2, 2]},
        "translate": [0, 0.103, 0],
        "material": material,
        "forces": [{"force": [0, 0, 0]}, {"pressure": 0.0}],
    }
    plate = {"name": "plate", "shape": {"kind": "plane", "size": [1, 1], "cells": [2, 2]}}
    sections.setdefault("time", {"step": 0.01, "end": 0.12})
    return standoff.Scene(
        ground=-1.0, friction={"coefficient": 0.3}, objects=[block, plate], **sections
    )


def tetrahedron():
    """Points and the one tetrahedron over them, with numbers that need every bit."""
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]) / 3.0
    return points, np.array([[0, 1, 2, 3]])
