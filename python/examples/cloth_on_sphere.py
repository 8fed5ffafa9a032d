"""Getting started: a cloth falls on a sphere, and what the sphere feels."""

import standoff

scene = standoff.Scene(
    time={"step": 0.02, "end": 0.4},
    materials={"cotton": {"young_modulus": "0.8 MPa", "density": 480, "shell": {"thickness": 3e-4}}},
    objects=[
        {"name": "cloth", "shape": {"kind": "plane", "size": [0.6, 0.6], "cells": [12, 12]},
         "role": "shell", "material": "cotton", "translate": [0.01, 0.16, 0]},
        {"name": "sphere", "shape": {"kind": "sphere", "radius": 0.15, "layers": 4, "surface": True}}])
simulation = standoff.Simulation(scene)
simulation.run()
print("force on the sphere", simulation["sphere"].force, "N")

weight = simulation["cloth"].masses.sum() * 9.81
assert 0.2 * weight < -simulation["sphere"].force[1] < 3 * weight
assert simulation.audit() == []
