#!/usr/bin/env python3
"""Forces of a pad between plates to which it sticks, by CalculiX on the meshes of `a_pad_has_the_force_of_calculix` (sim/tests/axisymmetric.rs).

    tools/calculix_pad.py [CCX]     # prints ν, element, cells and the force in N of the whole ring

CCX is the program, by default `ccx` (Debian's package calculix-ccx). The half-section has a radius of 0.5 m and a height of 0.6 m, E is 0.1 MPa, and
the upper plate comes down by a thousandth. CalculiX prints the forces of 2° of the ring, of which there are 180. Only Python's standard library is used.
"""
import pathlib, re, subprocess, sys, tempfile

RADIUS, HEIGHT, YOUNG, STRAIN = 0.5, 0.6, 1e5, 1e-3


def deck(n, order, nu):
    """The input file for n × n cells of two triangles, linear ones or quadratic ones."""
    steps = n * order
    node = lambda i, j: i * (steps + 1) + j + 1
    nodes = [f"{node(i, j)},{RADIUS * i / steps:.12g},{HEIGHT * j / steps:.12g},0"
             for i in range(steps + 1) for j in range(steps + 1)]
    elements = []
    for i in range(n):
        for j in range(n):
            v = lambda a, b: (order * (i + a), order * (j + b))
            a, b, c, d = v(0, 0), v(1, 0), v(1, 1), v(0, 1)
            for triangle in ([a, b, c], [a, c, d]) if (i + j) % 2 == 0 else ([a, b, d], [b, c, d]):
                numbers = [node(*p) for p in triangle]
                if order == 2:
                    ends = zip(triangle, triangle[1:] + triangle[:1])
                    numbers += [node((p[0] + q[0]) // 2, (p[1] + q[1]) // 2) for p, q in ends]
                elements.append(",".join(map(str, [len(elements) + 1, *numbers])))
    of = lambda numbers: [f"{k}," for k in numbers]
    all_steps = range(steps + 1)
    return "\n".join([
        "*NODE", *nodes, f"*ELEMENT,TYPE=CAX{3 * order},ELSET=ALL", *elements,
        "*NSET,NSET=LOW", *of(node(i, 0) for i in all_steps), "*NSET,NSET=TOP", *of(node(i, steps) for i in all_steps),
        "*NSET,NSET=AXIS", *of(node(0, j) for j in all_steps),
        "*MATERIAL,NAME=M", "*ELASTIC", f"{YOUNG},{nu}", "*SOLID SECTION,ELSET=ALL,MATERIAL=M",
        "*BOUNDARY", "LOW,1,2", "AXIS,1", "*STEP", "*STATIC", "*BOUNDARY", "TOP,1,1,0", f"TOP,2,2,{-STRAIN * HEIGHT}",
        "*NODE PRINT,NSET=TOP,TOTALS=ONLY", "RF", "*END STEP", ""])


def force(program, n, order, nu):
    """The force of the upper plate, N."""
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "pad.inp").write_text(deck(n, order, nu))
        subprocess.run([program, "pad"], cwd=folder, check=True, capture_output=True)
        printed = re.findall(r"[-\d.]+E[+-]\d+", (pathlib.Path(folder) / "pad.dat").read_text())
    # the time and the three components
    return -180 * float(printed[2])


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else "ccx"
    for nu in (0.4, 0.49, 0.499):
        for order in (1, 2):
            for n in (8, 16, 32):
                print(f"ν = {nu}, CAX{3 * order}, {n} cells: {force(program, n, order, nu):.3f} N", flush=True)


if __name__ == "__main__":
    main()
