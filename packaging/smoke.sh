#!/bin/sh
# Tries a wheel as a newcomer does: `packaging/smoke.sh FOLDER` installs the one wheel in the folder into an environment that has
# nothing else, runs a scene from Python and by the command, asks for the viewer's page, and prints what it took.
set -eu
wheel=$(ls "$1"/standoff-*.whl)
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
cp "$wheel" "$work/"
cd "$work"
python3 -m venv env || python -m venv env
bin=env/bin
[ -d "$bin" ] || bin=env/Scripts
start=$(date +%s)
"$bin/python" -m pip install --quiet ./standoff-*.whl
installed=$(date +%s)
cat >first.py <<'PYTHON'
import urllib.request
import standoff

scene = standoff.Scene(ground=0.0, time={"step": 0.01, "end": 0.1}, objects=[
    {"name": "ball", "shape": {"kind": "sphere", "radius": 0.1, "layers": 3}, "translate": [0, 0.11, 0]}])
simulation = standoff.Simulation(scene)
with simulation.view() as viewer:
    simulation.run()
    page = urllib.request.urlopen(viewer.url).read().decode()
    assert "main.js" in page, page
simulation.export("run.html")
assert simulation["ground"].force[1] < 0, simulation["ground"].force
PYTHON
"$bin/python" first.py
"$bin/standoff" new ball
"$bin/standoff" run ball.toml --quiet
"$bin/standoff" audit out/ball
[ -s run.html ]
end=$(date +%s)
echo "wheel: $(wc -c <"$(ls standoff-*.whl)") bytes; installed with NumPy in $((installed - start)) s," \
    "two runs and their pages in $((end - installed)) s"
