"""The toolkit against ipctk, finite differences, and itself."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import standoff
from standoff import toolkit

ipctk = pytest.importorskip("ipctk")

TOLERANCE = 1e-10
ORACLE = Path(__file__).resolve().parents[2] / "testdata/oracle"


def sphere(centre, radius=0.5, rings=8, segments=12):
    """A closed sphere of triangles, turned so that nothing is aligned."""
    points = [[0, radius, 0]]
    for r in range(1, rings):
        for s in range(segments):
            a, b = np.pi * r / rings, 2 * np.pi * (s + 0.37 * r) / segments
            points.append([radius * np.sin(a) * np.cos(b), radius * np.cos(a), radius * np.sin(a) * np.sin(b)])
    points.append([0, -radius, 0])
    at = lambda r, s: 1 + (r - 1) * segments + s % segments
    faces = [[0, at(1, s + 1), at(1, s)] for s in range(segments)]
    for r in range(1, rings - 1):
        for s in range(segments):
            a, b, c, d = at(r, s), at(r, s + 1), at(r + 1, s), at(r + 1, s + 1)
            faces += [[a, b, d], [a, d, c]]
    last = len(points) - 1
    faces += [[last, at(rings - 1, s), at(rings - 1, s + 1)] for s in range(segments)]
    return np.array(points) + centre, np.array(faces)


def scene(gap=0.02):
    """Two spheres close to each other, with noise: rest, positions and faces."""
    random = np.random.default_rng(7)
    (a, fa), (b, fb) = sphere([0, 0, 0]), sphere([0.13, 1.0 + gap, 0.07])
    rest = np.vstack([a, b])
    faces = np.vstack([fa, fb + len(a)])
    x = rest + 2e-3 * random.standard_normal(rest.shape)
    return rest, x, faces


D_HAT = 0.08


def reference(rest, x, faces, kind, d_hat=D_HAT):
    """ipctk's mesh, collisions and potential."""
    mesh = ipctk.CollisionMesh(rest, ipctk.edges(faces), faces)
    collisions = ipctk.NormalCollisions()
    collisions.use_area_weighting = kind != "ipc"
    # the same sum without duplicates
    if kind == "convergent":
        collisions.collision_set_type = ipctk.NormalCollisions.CollisionSetType.IMPROVED_MAX_APPROX
    collisions.build(mesh, np.asfortranarray(x), d_hat)
    return mesh, collisions, ipctk.BarrierPotential(d_hat, 3.0, kind != "ipc")


def agree(a, b):
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    assert a.shape == b.shape
    assert np.abs(a - b).max() <= TOLERANCE * np.abs(b).max(), np.abs(a - b).max() / np.abs(b).max()


def test_distances():
    random = np.random.default_rng(3)
    for _ in range(200):
        p = random.standard_normal((4, 3))
        pairs = [
            (toolkit.point_point_distance(*p[:2]), ipctk.point_point_distance, 2, "point_point"),
            (toolkit.point_edge_distance(*p[:3]), ipctk.point_edge_distance, 3, "point_edge"),
            (toolkit.edge_edge_distance(*p), ipctk.edge_edge_distance, 4, "edge_edge"),
            (toolkit.point_triangle_distance(*p), ipctk.point_triangle_distance, 4, "point_triangle"),
        ]
        for (value, gradient, hessian), distance, n, name in pairs:
            agree(value[0], distance(*p[:n]))
            agree(gradient[0], getattr(ipctk, f"{name}_distance_gradient")(*p[:n]))
            agree(hessian[0], getattr(ipctk, f"{name}_distance_hessian")(*p[:n]))


def test_barrier():
    d_hat = 0.1
    for s in [1e-6, 1e-4, 5e-3, 9.9e-3, 2e-2]:
        b = toolkit.barrier(s, d_hat)[0]
        names = ["barrier", "barrier_first_derivative", "barrier_second_derivative"]
        for value, name in zip(b, names):
            assert value == pytest.approx(getattr(ipctk, name)(s, d_hat**2), rel=TOLERANCE)


@pytest.mark.parametrize("kind", ["ipc", "area", "convergent"])
def test_contact_potentials(kind):
    rest, x, faces = scene()
    mesh, collisions, potential = reference(rest, x, faces, kind)
    contacts = toolkit.Surface(rest, faces).contacts(x, D_HAT, stiffness=3.0, potential=kind)
    xf = np.asfortranarray(x)
    assert len(contacts) > 20
    agree(contacts.value(x), potential(collisions, mesh, xf))
    agree(contacts.gradient(x).ravel(), potential.gradient(collisions, mesh, xf))
    exact = potential.hessian(collisions, mesh, xf).toarray()
    agree(contacts.hessian(x, project=False).toarray(), exact)
    agree(contacts.min_distance(x) ** 2, collisions.compute_minimum_distance(mesh, xf))
    if kind != "convergent":
        # ipctk projects pairs of negative weight, too
        clamp = ipctk.PSDProjectionMethod.CLAMP
        projected = potential.hessian(collisions, mesh, xf, clamp).toarray()
        agree(contacts.hessian(x).toarray(), projected)


def test_convergent_potential_of_nearly_parallel_edges():
    """A pair of edges whose corrections ipctk assigns to other ends (`edge_pairs.py`): with that put right, all agrees."""
    import edge_pairs

    d_hat = 0.02
    ball = {"name": "ball", "shape": {"kind": "sphere", "radius": 0.5, "layers": 5, "surface": True}}
    box = {"shape": {"kind": "box"}, "translate": [9, 0, 0]}
    body = standoff.Scene(objects=[ball, box]).bodies["ball"]
    rest = np.vstack([body["rest"], body["rest"] + [0.01, 1.001, 0.02]])
    faces = np.vstack([body["triangles"], body["triangles"] + len(body["rest"])])
    x = rest + 1e-5 * np.random.default_rng(1).standard_normal(rest.shape)
    mesh, collisions, potential = reference(rest, x, faces, "convergent", d_hat)
    value, gradient, hessian, count = edge_pairs.correction(mesh, collisions, potential, x, d_hat)
    assert count > 0
    contacts = toolkit.Surface(rest, faces).contacts(x, d_hat, stiffness=3.0, potential="convergent")
    xf = np.asfortranarray(x)
    agree(contacts.value(x), potential(collisions, mesh, xf) + value)
    agree(contacts.gradient(x).ravel(), potential.gradient(collisions, mesh, xf) + gradient)
    exact = potential.hessian(collisions, mesh, xf) + hessian
    agree(contacts.hessian(x, project=False).toarray(), exact.toarray())
    # and without it, it does not: once ipctk is mended this fails, and the correction goes
    off = np.abs(contacts.gradient(x).ravel() - potential.gradient(collisions, mesh, xf)).max()
    assert off > TOLERANCE * np.abs(gradient).max()


def test_friction():
    rest, x, faces = scene()
    mesh, collisions, potential = reference(rest, x, faces, "ipc")
    tangential = ipctk.TangentialCollisions()
    tangential.build(mesh, np.asfortranarray(x), collisions, potential, 0.3)
    eps, random = 1e-3, np.random.default_rng(5)
    friction = toolkit.Surface(rest, faces).contacts(x, D_HAT, stiffness=3.0).friction(x, 0.3, eps)
    theirs = ipctk.FrictionPotential(eps)
    assert len(friction) > 20
    for size in (1e-4, 1e-2):
        u = size * random.standard_normal(x.shape)
        uf = np.asfortranarray(u)
        assert friction.value(x + u, x) == pytest.approx(theirs(tangential, mesh, uf), rel=TOLERANCE)
        # displacements are differences of positions here: their rounding is that of positions
        a, b = friction.gradient(x + u, x).ravel(), theirs.gradient(tangential, mesh, uf)
        assert np.abs(a - b).max() <= TOLERANCE * np.abs(b).max()
        a = friction.hessian(x + u, x).toarray()
        b = theirs.hessian(tangential, mesh, uf).toarray()
        assert np.abs(a - b).max() <= TOLERANCE * np.abs(b).max()


def test_thickness():
    rest, x, faces = scene()
    thickness = 0.01
    mesh = ipctk.CollisionMesh(rest, ipctk.edges(faces), faces)
    collisions = ipctk.NormalCollisions()
    collisions.build(mesh, np.asfortranarray(x), D_HAT, thickness)
    potential = ipctk.BarrierPotential(D_HAT, 3.0)
    surface = toolkit.Surface(rest, faces, thickness=thickness)
    contacts = surface.contacts(x, D_HAT, stiffness=3.0)
    xf = np.asfortranarray(x)
    agree(contacts.value(x), potential(collisions, mesh, xf))
    agree(contacts.gradient(x).ravel(), potential.gradient(collisions, mesh, xf))
    agree(contacts.hessian(x, project=False).toarray(), potential.hessian(collisions, mesh, xf).toarray())
    least = np.sqrt(collisions.compute_minimum_distance(mesh, xf))
    agree(contacts.min_distance(x), least - thickness)
    # on the way together, the thickness is kept
    x1 = x.copy()
    x1[len(x) // 2 :] -= [0, 0.5, 0]
    t = surface.max_step(x, x1, keep=1e-3)
    assert surface.contacts(x + t * (x1 - x), D_HAT).min_distance(x + t * (x1 - x)) > 0
    assert t < toolkit.Surface(rest, faces).max_step(x, x1, keep=1e-3)


@pytest.mark.parametrize("alpha_t, exponent", [(0.5, 2), (0.9, 2), (0.5, 1)])
def test_orientation_aware_contact(alpha_t, exponent):
    rest, x, faces = scene()
    n = len(rest)
    edges = np.asfortranarray(ipctk.edges(faces).astype(np.int32))
    triangles = np.asfortranarray(faces.astype(np.int32))
    mesh = ipctk.CollisionMesh([True] * n, [True] * n, np.asfortranarray(rest), edges, triangles)
    parameters = ipctk.SmoothContactParameters(D_HAT, alpha_t, 0.0, 0.1, 0.0, exponent)
    collisions, potential = ipctk.SmoothCollisions(), ipctk.SmoothPotential(parameters)
    xf = np.asfortranarray(x)
    collisions.build(mesh, xf, parameters)
    shape = toolkit.OrientationAware(alpha_t=alpha_t, exponent=exponent, areas="current", reach="uniform")
    stiffness = 2 / 3 * D_HAT**exponent
    contacts = toolkit.Surface(rest, faces).contacts(x, D_HAT, stiffness=stiffness, potential=shape)
    assert contacts.value(x) > 0
    agree(contacts.value(x), potential(collisions, mesh, xf))
    agree(contacts.gradient(x).ravel(), potential.gradient(collisions, mesh, xf))
    exact = potential.hessian(collisions, mesh, xf).toarray()
    agree(contacts.hessian(x, project=False).toarray(), exact)
    clamp = ipctk.PSDProjectionMethod.CLAMP
    agree(contacts.hessian(x).toarray(), potential.hessian(collisions, mesh, xf, clamp).toarray())


@pytest.mark.parametrize("kind, name", [
    ("normalized-clamped-log", "NormalizedClampedLogBarrier"),
    ("clamped-log-squared", "ClampedLogSqBarrier"),
    ("cubic", "CubicBarrier"),
    ("two-stage", "TwoStageBarrier"),
])
def test_other_barriers(kind, name):
    theirs, d_hat = getattr(ipctk, name)(), 0.1
    for s in [1e-6, 1e-4, 4e-3, 9.9e-3, 2e-2]:
        b = toolkit.barrier(s, d_hat, kind=kind)[0]
        functions = theirs, theirs.first_derivative, theirs.second_derivative
        for value, function in zip(b, functions):
            assert value == pytest.approx(function(s, d_hat**2), rel=TOLERANCE)


def test_stiffness():
    rest, x, faces = scene()
    mesh, collisions, _ = reference(rest, x, faces, "ipc")
    xf = np.asfortranarray(x)
    unit = ipctk.BarrierPotential(D_HAT, 1.0)
    contact = unit.gradient(collisions, mesh, xf)
    size = ipctk.world_bbox_diagonal_length(xf)
    random = np.random.default_rng(4).standard_normal(len(contact))
    for other in (-50.0 * contact, -1e6 * contact, random):
        want = ipctk.initial_barrier_stiffness(size, unit.barrier, D_HAT, 1e-3, other, contact)
        ours = toolkit.initial_stiffness(D_HAT, size, 1e-3, other.reshape(-1, 3), contact.reshape(-1, 3))
        assert ours == pytest.approx(want, rel=TOLERANCE)
    for before, now in ((1e-9, 5e-10), (1e-9, 2e-9), (1e-2, 1e-3)):
        want = ipctk.update_barrier_stiffness(before**2, now**2, 30.0, 20.0, 3.0)
        assert toolkit.updated_stiffness(20.0, 30.0, before, now, 3.0) == pytest.approx(want, rel=TOLERANCE)


def test_collision_detection():
    rest, x, faces = scene()
    surface = toolkit.Surface(rest, faces)
    x1 = x.copy()
    x1[len(x) // 2 :] -= [0, 0.5, 0]
    mesh = ipctk.CollisionMesh(rest, ipctk.edges(faces), faces)
    assert surface.intersections(x) == []
    assert surface.intersections(x1) != []
    assert ipctk.has_intersections(mesh, np.asfortranarray(x1))
    theirs = ipctk.compute_collision_free_stepsize(
        mesh, np.asfortranarray(x), np.asfortranarray(x1)
    )
    for method in ("additive", "additive-published", "inclusion"):
        t = surface.max_step(x, x1, keep=1e-3, method=method)
        # the exact time is beyond both
        assert 0 < t < 1 and abs(t - theirs) < 0.02 * theirs, (method, t, theirs)
        assert surface.intersections(x + t * (x1 - x)) == []
        assert surface.is_free(x, x + 0.99 * t * (x1 - x), method=method) and not surface.is_free(x, x1)
    assert surface.max_step(x, x + 1e-6) == 1.0
    assert surface.edges.shape[1] == 2 and (surface.faces == faces).all()


def test_candidates():
    rest, x, faces = scene()
    surface = toolkit.Surface(rest, faces)
    mesh = ipctk.CollisionMesh(rest, ipctk.edges(faces), faces)
    x1 = x.copy()
    x1[len(x) // 2 :] -= [0, 0.1, 0]
    # the same pairs of primitives, by their vertices
    key = lambda first, a, second, b: frozenset([frozenset(first[a]), frozenset(np.atleast_1d(second[b]).tolist())])
    vertices = np.arange(len(x))
    for end in (None, x1):
        found = surface.candidates(x, end, distance=D_HAT)
        ours = {key(surface.faces, f, vertices, v) for f, v in found["face_vertex"]}
        ours |= {key(surface.edges, a, surface.edges, b) for a, b in found["edge_edge"]}
        candidates = ipctk.Candidates()
        ways = [np.asfortranarray(p) for p in (x, end) if p is not None]
        candidates.build(mesh, *ways, D_HAT / 2)
        theirs = {key(mesh.faces, c.face_id, vertices, c.vertex_id) for c in candidates.fv_candidates}
        theirs |= {key(mesh.edges, c.edge0_id, mesh.edges, c.edge1_id) for c in candidates.ee_candidates}
        # theirs are all pairs of boxes that overlap; ours leave out pairs that a plane keeps apart
        assert ours <= theirs and len(ours) > 100
        for t in (0.0, 0.5, 1.0):
            y = x if end is None else x + t * (end - x)
            stencils = surface.contacts(y, D_HAT).stencils
            assert len(stencils) > 20
            touching = [set(s[s >= 0].tolist()) for s in stencils]
            pairs = [set().union(*k) for k in ours]
            assert all(any(t <= p for p in pairs) for t in touching)


def test_times_of_impact():
    queries = np.load(ORACLE / "ccd_queries.npz")
    for kind, time in (("point_triangle", toolkit.point_triangle_time), ("edge_edge", toolkit.edge_edge_time)):
        q = queries[f"ccd_{kind}"].reshape(-1, 8, 3)
        points, ends = list(q[:, :4].transpose(1, 0, 2)), list(q[:, 4:].transpose(1, 0, 2))
        cases = json.loads((ORACLE / f"ccd_{kind}.json").read_text())["cases"]
        # the exact times of impact, by 60 digits; infinite where there is none, or where queries are degenerate
        known = [isinstance(c["toi_ref"], float | None) for c in cases]
        exact = np.array([c["toi_ref"] if k and c["toi_ref"] is not None else np.inf for c, k in zip(cases, known)])
        assert len(exact) == len(q) and np.isfinite(exact).sum() > 100 and sum(known) >= 940
        for method in ("additive", "inclusion"):
            t = time(points, ends, keep=1e-3, method=method)
            assert (t <= exact).all()
    # the tutorial's query: the exact time is 0.5
    p, a, b, c = [[0, -1, 0]], [[-1, 0, 1]], [[1, 0, 1]], [[0, 0, -1]]
    args = [np.array(v[0], float) for v in (p, a, b, c, [[0, 1, 0]], a, b, c)]
    for rescaling in (0.9, 0.999):
        ours = toolkit.point_triangle_time([p, a, b, c], [[[0, 1, 0]], a, b, c], keep=1 - rescaling)[0]
        hit, theirs = ipctk.AdditiveCCD(conservative_rescaling=rescaling).point_triangle_ccd(*args)
        assert hit and 0.5 * rescaling - 1e-6 <= ours <= 0.5 and abs(ours - theirs) < 0.06, (ours, theirs)
    assert toolkit.point_point_time([p, [[0, 1, 0]]], [[[0, 2, 0]], [[0, 5, 0]]])[0] == np.inf
    kept = toolkit.point_edge_time([p, a, b], [[[0, 1, 2]], a, b], thickness=0.1)[0]
    assert 0 < kept < toolkit.point_edge_time([p, a, b], [[[0, 1, 2]], a, b])[0] < 1
    with pytest.raises(ValueError, match="keep"):
        toolkit.point_point_time([p, p], [p, p], keep=1.0)


def test_times_on_curved_ways():
    """A rod that turns about the z axis meets a point at an angle that is known."""
    turn = lambda p: lambda t: [np.cos(np.pi * t) * p, np.sin(np.pi * t) * p, 0]

    def bound(p):
        def deviation(t0, t1):
            # of an arc from its chord
            half = 0.5 * np.pi * (t1 - t0)
            return p * (1 - np.cos(half)) if half < np.pi / 2 else 2 * p

        return deviation

    still = lambda p: (lambda t: p, lambda t0, t1: 0.0)
    for angle in (0.3, 1.2, 2.9):
        point, none = still(np.array([0.5 * np.cos(angle), 0.5 * np.sin(angle), 0.0]))
        for keep in (0.1, 1e-3):
            t = toolkit.curved_time(
                toolkit.point_edge_time, [point, turn(0.1), turn(1.0)], [none, bound(0.1), bound(1.0)], keep=keep)
            exact = angle / np.pi
            assert exact * (0.8 if keep == 0.1 else 0.99) < t <= exact, (t, exact)
    beyond, none = still(np.array([0.0, 2.0, 0.0]))
    ways, bounds = [beyond, turn(0.1), turn(1.0)], [none, bound(0.1), bound(1.0)]
    assert toolkit.curved_time(toolkit.point_edge_time, ways, bounds) == np.inf
    assert toolkit.curved_time(toolkit.point_edge_time, ways, bounds, thickness=1.2) < 0.5


def test_what_may_touch():
    rest, x, faces = scene()
    half = np.arange(len(rest)) >= len(rest) // 2
    count = lambda **filters: len(toolkit.Surface(rest, faces, **filters).contacts(x, 0.3))
    everything = count()
    assert count(groups=half, ignore=[(0, 1)]) < everything
    between = count(groups=half, ignore=[(0, 0), (1, 1)])
    assert 0 < between < everything
    assert count(groups=half, ignore=[(0, 0), (1, 1), (0, 1)]) == 0
    # what is fixed touches what can move
    assert between < count(mobile=half) < everything
    with pytest.raises(ValueError, match="of an edge differ"):
        toolkit.Surface(rest, faces, groups=np.arange(len(rest)))
    with pytest.raises(ValueError, match="no groups"):
        toolkit.Surface(rest, faces, ignore=[(0, 0)])
    with pytest.raises(ValueError, match="thickness"):
        toolkit.Surface(rest, faces, thickness=-1.0)


def test_friction_by_materials():
    rest, x, faces = scene()
    half = (np.arange(len(rest)) >= len(rest) // 2).astype(int)
    contacts = toolkit.Surface(rest, faces).contacts(x, D_HAT, stiffness=3.0)
    table = [[0.1, 0.4], [0.4, 0.2]]
    random = 1e-3 * np.random.default_rng(5).standard_normal(x.shape)
    by_table = contacts.friction(x, table, 1e-3, materials=half)
    # all pairs of which both primitives are of one sphere, or not
    assert by_table.value(x + random, x) > contacts.friction(x, 0.1, 1e-3).value(x + random, x)
    same = contacts.friction(x, [[0.3, 0.3], [0.3, 0.3]], 1e-3, materials=half)
    assert same.value(x + random, x) == contacts.friction(x, 0.3, 1e-3).value(x + random, x)
    # a kinetic coefficient: the same up to the displacement, less beyond ten times that
    falling = contacts.friction(x, 0.3, 1e-3, kinetic=0.2)
    static = contacts.friction(x, 0.3, 1e-3).gradient(x + 1e-3 * random, x)
    np.testing.assert_array_equal(falling.gradient(x + 1e-3 * random, x), static)
    kinetic = contacts.friction(x, 0.2, 1e-3).gradient(x + 1e3 * random, x)
    np.testing.assert_allclose(falling.gradient(x + 1e3 * random, x), kinetic, atol=1e-9 * np.abs(kinetic).max())
    with pytest.raises(ValueError, match="symmetric"):
        contacts.friction(x, [[0.1, 0.4], [0.3, 0.2]], 1e-3, materials=half)
    with pytest.raises(ValueError, match="materials"):
        contacts.friction(x, table, 1e-3, materials=2 * half)


def test_boundary():
    shape = {"kind": "box", "size": [1, 1, 1], "cells": [2, 2, 2]}
    body = standoff.Scene(objects=[{"name": "box", "shape": shape}]).bodies["box"]
    triangles = toolkit.boundary(body["tetrahedra"])
    p = body["rest"][triangles]
    normals = 0.5 * np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
    assert np.linalg.norm(normals, axis=1).sum() == pytest.approx(6.0)
    # seen from outside
    assert (normals * p.mean(axis=1)).sum() / 3 == pytest.approx(1.0)


def test_orientation_aware_contact_by_differences():
    rest, x, faces = scene()
    # nothing acts where the spheres are at rest, at any contact distance; at x they are closer
    rest[len(rest) // 2 :, 1] += 0.3
    surface = toolkit.Surface(rest, faces)
    assert len(surface.contacts(rest, 2.0, potential="orientation-aware")) == 0
    assert len(surface.contacts(rest, 2.0)) > 0
    contacts = surface.contacts(x, D_HAT, stiffness=3.0, potential="orientation-aware")
    assert len(contacts) > 0 and contacts.value(x) > 0
    direction = np.random.default_rng(2).standard_normal(x.shape)
    h = 1e-7
    slope = (contacts.value(x + h * direction) - contacts.value(x - h * direction)) / (2 * h)
    assert slope == pytest.approx((contacts.gradient(x) * direction).sum(), rel=1e-5)
    hessian = contacts.hessian(x).toarray()
    assert np.abs(hessian - hessian.T).max() < 1e-9 * np.abs(hessian).max()
    exact = contacts.hessian(x, project=False)
    ends = contacts.gradient(x + h * direction), contacts.gradient(x - h * direction)
    change = ((ends[0] - ends[1]) / (2 * h)).ravel()
    assert np.abs(exact @ direction.ravel() - change).max() < 1e-5 * np.abs(change).max()
    with pytest.raises(ValueError, match="alpha_t"):
        surface.contacts(x, D_HAT, potential=toolkit.OrientationAware(alpha_t=2.0))


@pytest.mark.parametrize("law", ["neo-hookean", "stable-neo-hookean", "fixed-corotated"])
def test_elasticity(law):
    rest = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]], dtype=float)
    tets = np.array([[0, 1, 2, 3], [1, 2, 3, 4]])
    elastic = toolkit.Elasticity(rest, tets, 1e5, 0.3, law=law)
    assert elastic.value(rest) == pytest.approx(0, abs=1e-9)
    assert elastic.masses(600.0).sum() == pytest.approx(600 * (1 / 6 + 1 / 3))
    x = rest + 0.01 * np.random.default_rng(1).standard_normal(rest.shape)
    direction = np.random.default_rng(2).standard_normal(x.shape)
    h = 1e-6
    slope = (elastic.value(x + h * direction) - elastic.value(x - h * direction)) / (2 * h)
    assert slope == pytest.approx((elastic.gradient(x) * direction).sum(), rel=1e-6)
    # at rest nothing has to be projected
    hessian = elastic.hessian(rest)
    ends = elastic.gradient(rest + h * direction), elastic.gradient(rest - h * direction)
    change = ((ends[0] - ends[1]) / (2 * h)).ravel()
    assert np.abs(hessian @ direction.ravel() - change).max() < 1e-6 * np.abs(change).max()
    exact = elastic.hessian(x, project=False)
    ends = elastic.gradient(x + h * direction), elastic.gradient(x - h * direction)
    change = ((ends[0] - ends[1]) / (2 * h)).ravel()
    assert np.abs(exact @ direction.ravel() - change).max() < 1e-6 * np.abs(change).max()
    hessian = elastic.hessian(x)
    eigenvalues = np.linalg.eigvalsh(hessian.toarray())
    assert eigenvalues.min() > -1e-8 * eigenvalues.max()
    inverted = rest.copy()
    inverted[0] = [2, 2, 2]
    assert 0 < elastic.max_step(rest, inverted) < 1
    with pytest.raises(ValueError, match="unknown law"):
        toolkit.Elasticity(rest, tets, 1e5, 0.3, law="rubber")
    with pytest.raises(ValueError, match="0"):
        toolkit.Elasticity(rest, tets[:, [1, 0, 2, 3]], 1e5, 0.3)


def test_elasticity_against_sfepy():
    data = json.loads((ORACLE / "peer_elastic_tet.json").read_text())
    rest, tets = np.array(data["vertices"]), np.array(data["tets"])
    parameters = data["meta"]["parameters"]
    lam, mu = parameters["lam"], parameters["mu"]
    modulus, ratio = mu * (3 * lam + 2 * mu) / (lam + mu), lam / (2 * (lam + mu))
    elastic = toolkit.Elasticity(rest, tets, modulus, ratio, law="st-venant-kirchhoff")
    compared = 0
    for case in data["cases"]:
        x, force = rest + np.array(case["displacement"]), np.array(case["force"]["svk"])
        found = elastic.gradient(x).ravel()
        assert np.abs(found - force).max() <= 1e-9 * max(np.abs(force).max(), 1e-3)
        compared += 1
    assert compared > 3


def test_shapes_are_checked():
    rest, x, faces = scene()
    surface = toolkit.Surface(rest, faces)
    with pytest.raises(ValueError, match="expected"):
        surface.contacts(x[:-1], D_HAT)
    with pytest.raises(ValueError, match="potential"):
        surface.contacts(x, D_HAT, potential="penalty")
    with pytest.raises(ValueError, match="positive"):
        surface.contacts(x, 0.0)


def test_arguments_are_checked():
    """What makes no sense is a ValueError that names argument and row, and never an empty or a wrong result."""
    nan, inf = float("nan"), float("inf")
    rest, x, faces = scene()
    surface = toolkit.Surface(rest, faces)
    contacts = surface.contacts(x, D_HAT)
    friction = contacts.friction(x, 0.3, 1e-3)
    tets = np.array([[0, 1, 2, 3]])
    corner = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
    elastic = toolkit.Elasticity(corner, tets, 1e5, 0.3)
    n, g = len(rest), np.zeros_like(rest)

    def bad(array, row, value=nan):
        array = np.array(array, dtype=float)
        array[row, 1] = value
        return array

    p = [[0.0, 0.0, 0.0]]
    q = [[1.0, 0.0, 0.0]]
    stiffness = toolkit.initial_stiffness
    cases = [
        # positions that are not finite
        (lambda: surface.intersections(bad(x, 5)), "x: row 5"),
        (lambda: surface.contacts(bad(x, 5), D_HAT), "x: row 5"),
        (lambda: surface.contacts(bad(x, 5, inf), D_HAT), "x: row 5"),
        (lambda: surface.candidates(bad(x, 5)), "x: row 5"),
        (lambda: surface.candidates(x, bad(x, 6)), "x1: row 6"),
        (lambda: surface.max_step(x, bad(x, 6)), "x1: row 6"),
        (lambda: surface.is_free(bad(x, 6), x), "x: row 6"),
        (lambda: contacts.value(bad(x, 2)), "x: row 2"),
        (lambda: contacts.gradient(bad(x, 2)), "x: row 2"),
        (lambda: contacts.hessian(bad(x, 2)), "x: row 2"),
        (lambda: contacts.min_distance(bad(x, 2)), "x: row 2"),
        (lambda: contacts.friction(bad(x, 2), 0.3, 1e-3), "x: row 2"),
        (lambda: friction.value(x, bad(x, 2)), "start: row 2"),
        (lambda: friction.gradient(bad(x, 2), x), "x: row 2"),
        (lambda: friction.hessian(x, bad(x, 2)), "start: row 2"),
        (lambda: elastic.value(bad(corner, 3)), "x: row 3"),
        (lambda: elastic.gradient(bad(corner, 3)), "x: row 3"),
        (lambda: elastic.hessian(bad(corner, 3)), "x: row 3"),
        (lambda: elastic.max_step(corner, bad(corner, 3)), "x1: row 3"),
        (lambda: toolkit.Elasticity(bad(corner, 3), tets, 1e5, 0.3), "rest: row 3"),
        (lambda: toolkit.Surface(bad(rest, 7), faces), "rest: row 7"),
        (lambda: toolkit.point_point_distance(p, [[nan, 0, 0]]), "b: row 0"),
        (lambda: toolkit.point_edge_distance([[nan, 0, 0]], p, q), "p: row 0"),
        (lambda: toolkit.edge_edge_distance(p, q, p, [[nan, 0, 0]]), "b1: row 0"),
        (lambda: toolkit.point_triangle_distance(p, q, p, [[0, inf, 0]]), "c: row 0"),
        (lambda: toolkit.point_point_time([p, q], [p, [[nan, 0, 0]]]), r"ends\[1\]: row 0"),
        (lambda: toolkit.point_edge_time([p, [[nan, 0, 0]], q], [p, p, q]), r"points\[1\]: row 0"),
        (lambda: stiffness(1e-3, 1.0, 1.0, bad(g, 4), g), "gradient: row 4"),
        (lambda: stiffness(1e-3, 1.0, 1.0, g, bad(g, 4)), "contact_gradient: row 4"),
        # shapes
        (lambda: surface.intersections(x[:, :2]), "x: expected an array of shape"),
        (lambda: surface.contacts(x[None], D_HAT), "x: expected an array of shape"),
        (lambda: surface.contacts(x[:-1], D_HAT), "x: .*expected"),
        (lambda: toolkit.Surface(rest, faces[:, :2]), "triangles: expected"),
        (lambda: toolkit.Surface(rest, faces.ravel()), "triangles: expected"),
        (lambda: toolkit.Surface(rest, segments=[0, 1]), "segments: expected"),
        (lambda: toolkit.Surface(rest, points=[[0, 1]]), "points: expected"),
        (lambda: toolkit.Elasticity(corner, [[0, 1, 2]], 1e5, 0.3), "tetrahedra: expected"),
        (lambda: toolkit.boundary([[0, 1, 2]]), "tetrahedra: expected"),
        (lambda: toolkit.Surface(rest, faces, thickness=np.zeros(n - 1)), "thickness: expected"),
        (lambda: toolkit.Surface(rest, faces, thickness=np.zeros((n, 1))), "thickness: expected"),
        (lambda: toolkit.Surface(rest, faces, groups=[0]), "groups: expected"),
        (lambda: toolkit.Surface(rest, faces, mobile=[True]), "mobile: expected"),
        (lambda: contacts.friction(x, [0.1, 0.2], 1e-3), "coefficient: expected"),
        (lambda: toolkit.barrier([[1e-4]], 0.1), "squared_distances: expected"),
        # indices
        (lambda: toolkit.Surface(rest, faces + 0.5), "triangles: row 0 holds .*whole"),
        (lambda: toolkit.Surface(rest, np.where(faces == 3, nan, faces)), "triangles: row .*whole"),
        (lambda: toolkit.Surface(rest, faces + n), "triangles: row 0 refers to vertex"),
        (lambda: toolkit.Surface(rest, segments=[[0, -1]]), "segments: row 0"),
        (lambda: toolkit.Surface(rest, segments=[["a", "b"]]), "segments: expected whole"),
        (lambda: toolkit.Surface(rest, points=[0, -1]), "points: row 1"),
        (lambda: toolkit.Surface(rest, points=[0.5]), "points: row 0"),
        (lambda: toolkit.Surface(rest, points=[n]), "points: row 0"),
        (lambda: toolkit.boundary([[0, 1, 2, 2.5]]), "tetrahedra: row 0"),
        (lambda: toolkit.Surface(rest, faces, groups=np.full(n, 70000)), "groups: row 0"),
        (lambda: toolkit.Surface(rest, faces, groups=np.zeros(n), ignore=[(0, -1)]), "ignore"),
        (lambda: toolkit.Surface(rest, faces, mobile=np.full(n, nan)), "mobile: row 0"),
        (lambda: toolkit.Surface(rest, faces, mobile=np.full(n, 2)), "mobile: row 0"),
        (lambda: contacts.friction(x, 0.3, 1e-3, materials=np.full(n, 0.5)), "materials: row 0"),
        # numbers
        (lambda: toolkit.Surface(rest, faces, thickness=np.full(n, nan)), "thickness.* vertex 0"),
        (lambda: toolkit.Surface(rest, faces, thickness=-1.0), "thickness.* vertex 0"),
        (lambda: surface.contacts(x, nan), "d_hat"),
        (lambda: surface.contacts(x, D_HAT, stiffness=nan), "stiffness"),
        (lambda: surface.contacts(x, D_HAT, stiffness=-1.0), "stiffness"),
        (lambda: surface.candidates(x, distance=-0.1), "distance = -0.1"),
        (lambda: surface.candidates(x, distance=nan), "distance"),
        (lambda: surface.max_step(x, x, keep=nan), "keep"),
        (lambda: surface.max_step(x, x, keep=1.0), "keep"),
        (lambda: contacts.friction(x, nan, 1e-3), "coefficient"),
        (lambda: contacts.friction(x, inf, 1e-3), "coefficient"),
        (lambda: contacts.friction(x, 0.3, nan), "displacement"),
        (lambda: contacts.friction(x, 0.3, 1e-3, kinetic=0.4), "kinetic: expected"),
        (lambda: contacts.friction(x, 0.3, 1e-3, kinetic=nan), "kinetic: expected"),
        (lambda: contacts.friction(x, 0.3, 1e-3, kinetic=[0.1]), "kinetic: expected"),
        (lambda: toolkit.Elasticity(corner, tets, -1.0, 0.3), "young_modulus"),
        (lambda: toolkit.Elasticity(corner, tets, nan, 0.3), "young_modulus"),
        (lambda: toolkit.Elasticity(corner, tets, 1e5, 0.5), "poisson_ratio"),
        (lambda: toolkit.Elasticity(corner, tets, 1e5, nan), "poisson_ratio"),
        (lambda: elastic.masses(nan), "density"),
        (lambda: elastic.masses(-1.0), "density"),
        (lambda: toolkit.barrier([1e-4, nan], 0.1), "squared_distances: entry 1"),
        (lambda: toolkit.barrier([-1e-4], 0.1), "squared_distances: entry 0"),
        (lambda: toolkit.barrier([1e-4], nan), "d_hat"),
        (lambda: toolkit.point_point_time([p, q], [p, q], keep=nan), "keep"),
        (lambda: toolkit.point_point_time([p, q], [p, q], thickness=nan), "thickness"),
        (lambda: stiffness(nan, 1.0, 1.0, g, g), "d_hat"),
        (lambda: stiffness(1e-3, 1.0, 1.0, g, g, thickness=nan), "thickness"),
        (lambda: toolkit.updated_stiffness(nan, 1.0, 1.0, 1.0, 1.0), "stiffness"),
        (lambda: toolkit.updated_stiffness(1.0, 1.0, nan, 1.0, 1.0), "distance_before"),
        (lambda: toolkit.curved_time(len, [], []), "time: expected"),
    ]
    faults = []
    for k, (call, says) in enumerate(cases):
        try:
            faults.append(f"{k} ({says}): {call()!r}")
        except ValueError as error:
            if not re.search(says, str(error)):
                faults.append(f"{k} ({says}): {error}")
    assert not faults, "\n".join(faults)
    # nothing at all is no fault
    empty = toolkit.Surface(rest, (), (), ())
    assert len(empty.edges) == 0 and empty.intersections(x) == []
    assert len(toolkit.Surface(rest, [], points=()).contacts(x, D_HAT)) == 0
    assert toolkit.boundary([]).shape == (0, 3)
    # and what is whole may be of any type
    assert len(toolkit.Surface(rest, faces.astype(float)).faces) == len(faces)
