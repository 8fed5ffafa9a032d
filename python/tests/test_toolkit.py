"""The toolkit against ipctk, finite differences, and itself."""

import numpy as np
import pytest

from standoff import toolkit

ipctk = pytest.importorskip("ipctk")

TOLERANCE = 1e-10


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


def reference(rest, x, faces, kind):
    """ipctk's mesh, collisions and potential."""
    mesh = ipctk.CollisionMesh(rest, ipctk.edges(faces), faces)
    collisions = ipctk.NormalCollisions()
    collisions.use_area_weighting = kind != "ipc"
    # the same sum without duplicates
    if kind == "convergent":
        collisions.collision_set_type = ipctk.NormalCollisions.CollisionSetType.IMPROVED_MAX_APPROX
    collisions.build(mesh, np.asfortranarray(x), D_HAT)
    return mesh, collisions, ipctk.BarrierPotential(D_HAT, 3.0, kind != "ipc")


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
    for method in ("additive", "inclusion"):
        t = surface.max_step(x, x1, keep=1e-3, method=method)
        # the exact time is beyond both
        assert 0 < t < 1 and abs(t - theirs) < 0.02 * theirs, (method, t, theirs)
        assert surface.intersections(x + t * (x1 - x)) == []
    assert surface.max_step(x, x + 1e-6) == 1.0
    found = surface.candidates(x, x1, distance=D_HAT)
    contacts = surface.contacts(x, D_HAT)
    assert len(found["edge_edge"]) + len(found["face_vertex"]) >= len(contacts)
    assert surface.edges.shape[1] == 2 and (surface.faces == faces).all()


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
    with pytest.raises(ValueError, match="projected only"):
        contacts.hessian(x, project=False)


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


def test_shapes_are_checked():
    rest, x, faces = scene()
    surface = toolkit.Surface(rest, faces)
    with pytest.raises(ValueError, match="expected"):
        surface.contacts(x[:-1], D_HAT)
    with pytest.raises(ValueError, match="potential"):
        surface.contacts(x, D_HAT, potential="penalty")
    with pytest.raises(ValueError, match="positive"):
        surface.contacts(x, 0.0)
