"""The convergent potential of ipctk with the closest features of pairs of edges as they are.

ipctk 1.6.1 collects the corrections of the "improved max approximation" for pairs of nearly parallel edges by the two edges,
whichever comes first, and by their closest features. Closest features depend on which edge comes first: end 0 of the first and
end 1 of the second is end 1 of the first and end 0 of the second after an exchange. A correction of (b, a) is thus added to that of (a, b) with
the same label, although it belongs to other ends. `correction` is what is missing of ipctk's potential for that reason."""

from collections import defaultdict

import ipctk
import numpy as np
from scipy.sparse import coo_array

Feature = ipctk.EdgeEdgeDistanceType
EXCHANGED = {
    Feature.EA0_EB0: Feature.EA0_EB0,
    Feature.EA1_EB1: Feature.EA1_EB1,
    Feature.EA0_EB1: Feature.EA1_EB0,
    Feature.EA1_EB0: Feature.EA0_EB1,
    Feature.EA_EB0: Feature.EA0_EB,
    Feature.EA_EB1: Feature.EA1_EB,
    Feature.EA0_EB: Feature.EA_EB0,
    Feature.EA1_EB: Feature.EA_EB1,
    Feature.EA_EB: Feature.EA_EB,
}
# the feature of a vertex and the first edge, for the first and the second end of the second edge
ENDS = {
    ipctk.PointEdgeDistanceType.P_E0: (Feature.EA0_EB0, Feature.EA0_EB1),
    ipctk.PointEdgeDistanceType.P_E1: (Feature.EA1_EB0, Feature.EA1_EB1),
    ipctk.PointEdgeDistanceType.P_E: (Feature.EA_EB0, Feature.EA_EB1),
}


def _add(weights, a, b, feature, weight):
    """Adds a weight under the edge of lower index first."""
    key = (a, b, feature) if a < b else (b, a, EXCHANGED[feature])
    weights[key] += weight


def _weights(mesh, x, d_hat):
    """The weights of pairs of edges by [Li 2023, section 4], with `ipctk`'s distances, areas and mollifier."""
    edges, rest = mesh.edges, mesh.rest_positions
    at_vertex = defaultdict(list)
    for e, ends in enumerate(edges):
        for v in ends:
            at_vertex[v].append(e)
    points = lambda p, *pair: [p[v] for e in pair for v in edges[e]]
    mollified = lambda a, b: ipctk.edge_edge_cross_squarednorm(
        *points(x, a, b)
    ) < ipctk.edge_edge_mollifier_threshold(*points(rest, a, b))
    candidates = ipctk.Candidates()
    candidates.build(mesh, x, d_hat / 2)
    weights, ends = defaultdict(float), set()
    for candidate in list(candidates.ee_candidates):
        a, b = candidate.edge0_id, candidate.edge1_id
        for e, v in [(a, edges[b][0]), (a, edges[b][1]), (b, edges[a][0]), (b, edges[a][1])]:
            if ipctk.point_edge_distance(x[v], *points(x, e)) < d_hat**2:
                ends.add((e, v))
        feature = ipctk.edge_edge_distance_type(*points(x, a, b))
        near = ipctk.edge_edge_distance(*points(x, a, b), feature) < d_hat**2
        if near and (feature == Feature.EA_EB or mollified(a, b)):
            _add(weights, a, b, feature, (mesh.edge_area(a) + mesh.edge_area(b)) / 4)
    for a, v in ends:
        feature = ENDS[ipctk.point_edge_distance_type(x[v], *points(x, a))]
        for b in at_vertex[v]:
            if not set(edges[a]) & set(edges[b]) and mollified(a, b):
                _add(weights, a, b, feature[int(edges[b][0] != v)], -mesh.edge_area(a) / 4)
    return weights


def correction(mesh, collisions, potential, x, d_hat):
    """Value, gradient and Hessian (SciPy sparse, not projected) that ipctk's convergent potential lacks, and the number of
    closest features concerned."""
    x = np.asfortranarray(x)
    right, theirs = _weights(mesh, x, d_hat), defaultdict(float)
    for c in list(collisions.ee_collisions):
        _add(theirs, c.edge0_id, c.edge1_id, c.dtype, c.weight)
    largest = max(map(abs, right.values()), default=0.0)
    wrong = [k for k in set(right) | set(theirs) if abs(right[k] - theirs[k]) > 1e-9 * largest]
    value, gradient, hessian = 0.0, np.zeros(x.size), coo_array((x.size, x.size)).tocsc()
    rest = mesh.rest_positions
    for a, b, feature in sorted(wrong, key=lambda k: (k[0], k[1], int(k[2]))):
        vertices = [*mesh.edges[a], *mesh.edges[b]]
        threshold = ipctk.edge_edge_mollifier_threshold(*rest[vertices])
        pair = ipctk.EdgeEdgeNormalCollision(a, b, threshold, feature)
        weight = right[a, b, feature] - theirs[a, b, feature]
        unknowns = np.concatenate([range(3 * v, 3 * v + 3) for v in vertices])
        local = x[vertices].ravel()
        # a pair of its own counts with weight 1
        value += weight * potential(pair, local)
        gradient[unknowns] += weight * potential.gradient(pair, local)
        rows, columns = np.meshgrid(unknowns, unknowns, indexing="ij")
        block = (weight * np.asarray(potential.hessian(pair, local)).ravel(), (rows.ravel(), columns.ravel()))
        hessian = hessian + coo_array(block, shape=hessian.shape).tocsc()
    return value, gradient, hessian, len(wrong)
