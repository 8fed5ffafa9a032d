"""The building blocks of contact and elasticity on plain arrays, for solvers of one's own.

Positions are arrays (n×3) in m, forces and gradients (n×3) in N, Hessians sparse matrices (3n×3n) in N/m whose
row 3i + k belongs to coordinate k of vertex i; those need SciPy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _standoff as _core

Array = NDArray[np.float64]

__all__ = [
    "Contacts",
    "Elasticity",
    "Friction",
    "OrientationAware",
    "Surface",
    "barrier",
    "boundary",
    "curved_time",
    "edge_edge_distance",
    "edge_edge_time",
    "initial_stiffness",
    "point_edge_distance",
    "point_edge_time",
    "point_point_distance",
    "point_point_time",
    "point_triangle_distance",
    "point_triangle_time",
    "updated_stiffness",
]


def _points(array: ArrayLike, name: str) -> Array:
    out = np.ascontiguousarray(array, dtype=np.float64)
    out = out.reshape(1, -1) if out.ndim == 1 else out
    if out.ndim != 2 or out.shape[1] != 3:
        raise ValueError(f"{name}: expected an array of shape (n, 3), got {np.shape(array)}")
    return out


def _whole(array: ArrayLike, name: str) -> NDArray[np.int64]:
    """Whole numbers, whatever their type."""
    given = np.asarray(array)
    if given.size == 0:
        return given.astype(np.int64)
    if given.dtype.kind not in "biuf":
        raise ValueError(f"{name}: expected whole numbers, got {given.dtype}")
    # of what is no number, or does not fit, nothing is left by the conversion
    with np.errstate(invalid="ignore"):
        numbers = given.astype(np.int64)
    wrong = np.argwhere(numbers != given)
    if len(wrong):
        at = tuple(wrong[0])
        raise ValueError(f"{name}: row {at[0]} holds {given[at]}; expected whole numbers")
    return np.ascontiguousarray(numbers)


def _elements(array: ArrayLike | None, name: str, corners: int) -> NDArray[np.int64] | None:
    return None if array is None else _corners(array, name, corners)


def _corners(array: ArrayLike, name: str, corners: int) -> NDArray[np.int64]:
    out = _whole(array, name)
    if out.size == 0:
        return out.reshape(0, corners)
    if out.ndim != 2 or out.shape[1] != corners:
        raise ValueError(f"{name}: expected an array of shape (n, {corners}), got {out.shape}")
    return out


def _numbers(array: ArrayLike, name: str, count: int | None, below: int) -> list[int]:
    """Whole numbers from 0, as many as there are vertices."""
    out = _whole(array, name)
    if out.ndim != 1 or (count is not None and len(out) != count):
        wanted = "n" if count is None else count
        raise ValueError(f"{name}: expected an array of shape ({wanted},), got {out.shape}")
    wrong = np.flatnonzero((out < 0) | (out >= below))
    if len(wrong):
        raise ValueError(f"{name}: row {wrong[0]} is {out[wrong[0]]}; expected numbers from 0 to {below - 1}")
    numbers: list[int] = out.tolist()
    return numbers


def _table(array: ArrayLike, name: str) -> Array:
    """A square table of numbers, or one number as a table."""
    table = np.asarray(array, dtype=np.float64)
    table = np.ascontiguousarray(table.reshape(1, 1) if table.ndim == 0 else table)
    if table.ndim != 2:
        raise ValueError(f"{name}: expected a number or a square array, got shape {table.shape}")
    return table


def _matrix(rows: Any, n: int) -> Any:
    from scipy.sparse import csr_matrix

    return csr_matrix(rows, shape=(3 * n, 3 * n))


def point_point_distance(a: ArrayLike, b: ArrayLike) -> tuple[Array, Array, Array]:
    """Squared distances d² of pairs of points (n), m², with gradients (n×6) and Hessians (n×6×6)."""
    return _core.point_point_distance(_points(a, "a"), _points(b, "b"))


def point_edge_distance(p: ArrayLike, a: ArrayLike, b: ArrayLike) -> tuple[Array, Array, Array]:
    """Squared distances of points p and segments a–b (n), with gradients (n×9) and Hessians (n×9×9)."""
    return _core.point_edge_distance(_points(p, "p"), _points(a, "a"), _points(b, "b"))


def edge_edge_distance(
    a0: ArrayLike, a1: ArrayLike, b0: ArrayLike, b1: ArrayLike
) -> tuple[Array, Array, Array]:
    """Squared distances of segments (n), with gradients (n×12) and Hessians (n×12×12)."""
    return _core.edge_edge_distance(
        _points(a0, "a0"), _points(a1, "a1"), _points(b0, "b0"), _points(b1, "b1")
    )


def point_triangle_distance(
    p: ArrayLike, a: ArrayLike, b: ArrayLike, c: ArrayLike
) -> tuple[Array, Array, Array]:
    """Squared distances of points p and triangles a–b–c (n), with gradients (n×12) and Hessians
    (n×12×12)."""
    return _core.point_triangle_distance(
        _points(p, "p"), _points(a, "a"), _points(b, "b"), _points(c, "c")
    )


def _times(
    points: Sequence[ArrayLike],
    ends: Sequence[ArrayLike],
    thickness: float,
    keep: float,
    method: str,
    edges: bool = False,
) -> Array:
    start = [_points(a, f"points[{k}]") for k, a in enumerate(points)]
    end = [_points(a, f"ends[{k}]") for k, a in enumerate(ends)]
    return _core.times_of_impact(start, end, edges, thickness, keep, method)


def point_point_time(
    points: Sequence[ArrayLike],
    ends: Sequence[ArrayLike],
    *,
    thickness: float = 0.0,
    keep: float = 0.1,
    method: str = "additive",
) -> Array:
    """Times t ≤ 1 (n) up to which pairs of points keep a safe distance on straight ways; infinite where they do so
    on the whole way. `points` are two arrays of positions (n×3), `ends` those at t = 1.

    The distance stays at or above ξ + `keep` (d₀ − ξ), where ξ is the `thickness` and d₀ the distance at t = 0, both
    in m. A time is never later than the true one. `method` is ``"additive"`` [Li 2021, Alg. 1],
    ``"additive-published"`` (the same with the bound of the paper), or ``"inclusion"`` [Wang 2021].
    """
    return _times(points, ends, thickness, keep, method)


def point_edge_time(
    points: Sequence[ArrayLike],
    ends: Sequence[ArrayLike],
    *,
    thickness: float = 0.0,
    keep: float = 0.1,
    method: str = "additive",
) -> Array:
    """The same of points p and segments a–b: three arrays (p, a, b). See :func:`point_point_time`."""
    return _times(points, ends, thickness, keep, method)


def edge_edge_time(
    points: Sequence[ArrayLike],
    ends: Sequence[ArrayLike],
    *,
    thickness: float = 0.0,
    keep: float = 0.1,
    method: str = "additive",
) -> Array:
    """The same of two segments: four arrays (a0, a1, b0, b1). See :func:`point_point_time`."""
    return _times(points, ends, thickness, keep, method, edges=True)


def point_triangle_time(
    points: Sequence[ArrayLike],
    ends: Sequence[ArrayLike],
    *,
    thickness: float = 0.0,
    keep: float = 0.1,
    method: str = "additive",
) -> Array:
    """The same of points p and triangles a–b–c: four arrays (p, a, b, c). See :func:`point_point_time`."""
    return _times(points, ends, thickness, keep, method)


#: A position (3) at a time from 0 to 1.
Way = Callable[[float], ArrayLike]
#: How far a way is from the straight line between its positions at two times, m, at most.
Deviation = Callable[[float, float], float]


def curved_time(
    time: Callable[..., Array],
    ways: Sequence[Way],
    deviations: Sequence[Deviation],
    *,
    thickness: float = 0.0,
    keep: float = 0.1,
    tolerance: float = 1e-6,
) -> float:
    """The time t ≤ 1 up to which two primitives keep apart while their vertices move on curved ways; infinite where
    they do so on the whole way. Never later than the true one.

    `time` is :func:`point_triangle_time` or another function for single pairs, `ways` one function per vertex in its
    order, `deviations` one bound per way. Each way is followed in straight pieces, with the bounds added to the
    thickness [Ferguson 2021], down to pieces of the length `tolerance`. `keep` and `thickness` are those of
    :func:`point_point_time`.
    """
    if time not in _DISTANCES:
        known = ", ".join(f.__name__ for f in _DISTANCES)
        raise ValueError(f"time: expected one of {known}")
    if not tolerance > 0.0:
        raise ValueError(f"tolerance = {tolerance}: expected a positive number")
    distance = _DISTANCES[time]
    first = 2 if time is edge_edge_time else 1

    def at(t: float) -> list[Array]:
        return [_points(way(t), f"ways[{k}]") for k, way in enumerate(ways)]

    def apart(x: list[Array]) -> float:
        return float(np.sqrt(distance(*x)[0][0]))

    start, length, x = 0.0, 1.0, at(0.0)
    floor = thickness + keep * max(apart(x) - thickness, 0.0)
    while start < 1.0:
        end = min(1.0, start + length)
        bound = [deviation(start, end) for deviation in deviations]
        added = max(bound[:first]) + max(bound[first:])
        gap = apart(x) - floor
        if gap <= 0.0 or length <= tolerance:
            return start
        if added > 0.1 * gap:
            length *= 0.5
            continue
        x1 = at(end)
        hit = float(time(x, x1, thickness=floor + added, keep=0.1)[0])
        if hit > 1.0:
            start, length, x = end, 2.0 * length, x1
        else:
            start, length = start + hit * (end - start), 0.5 * length
            x = at(start)
    return float("inf")


#: The distance that belongs to each time.
_DISTANCES: dict[Callable[..., Array], Callable[..., tuple[Array, Array, Array]]] = {
    point_point_time: point_point_distance,
    point_edge_time: point_edge_distance,
    edge_edge_time: edge_edge_distance,
    point_triangle_time: point_triangle_distance,
}


def barrier(squared_distances: ArrayLike, d_hat: float, *, kind: str = "clamped-log") -> Array:
    """[b, b′, b″] (n×3) of a barrier of squared distances s, with ŝ = d̂²; 0 beyond d̂.

    `kind` is that of ``contact.barrier`` in a scene file: ``"clamped-log"``, b(s) = −(s − ŝ)² ln(s/ŝ)
    [Li 2020, Eq. 6], ``"normalized-clamped-log"``, ``"clamped-log-squared"``, ``"cubic"`` or ``"two-stage"``.
    """
    values = np.atleast_1d(np.asarray(squared_distances, dtype=np.float64))
    if values.ndim != 1:
        raise ValueError(f"squared_distances: expected an array of shape (n,), got {values.shape}")
    return _core.barrier(values.tolist(), d_hat, kind)


def boundary(tetrahedra: ArrayLike) -> NDArray[np.int64]:
    """The triangles (m×3) that belong to one of the tetrahedra (n×4) alone, seen from outside counter-clockwise."""
    return _core.boundary(_corners(tetrahedra, "tetrahedra", 4))


def initial_stiffness(
    d_hat: float,
    size: float,
    mass: float,
    gradient: ArrayLike,
    contact_gradient: ArrayLike,
    *,
    thickness: float = 0.0,
    barrier: str = "clamped-log",
) -> tuple[float, float]:
    """The stiffness κ that balances the gradient of the contact potential with κ = 1 and the `gradient` of everything
    else (n×3 each), and the largest κ [Li 2020 thesis, App. F].

    `size` is the diagonal of the scene's bounding box, m; `mass` the mean mass of a vertex, kg, over the factor of
    the contact potential in the function that is minimised (h² for implicit Euler).
    """
    other, contact = _points(gradient, "gradient"), _points(contact_gradient, "contact_gradient")
    return _core.initial_stiffness(d_hat, size, mass, other, contact, thickness, barrier)


def updated_stiffness(
    stiffness: float, largest: float, distance_before: float, distance: float, size: float
) -> float:
    """κ after an iteration: doubled, up to `largest`, where the smallest distance before and after it (m) is below
    1e-9 `size` and shrinks [Li 2020 thesis, App. F]."""
    return _core.updated_stiffness(stiffness, largest, distance_before, distance, size)


@dataclass(frozen=True)
class OrientationAware:
    """The potential of [Huang 2024] on closed surfaces, which distinguishes inside and outside. Other surfaces have
    the potential ``"ipc"``.

    With ``areas="current"``, ``reach="uniform"`` and a stiffness of 2/3 d̂^r it is ``SmoothPotential`` of the IPC
    Toolkit.
    """

    #: Where the factors of the tangents begin and end [Huang 2024, Eq. 11].
    alpha_t: float = 0.5
    #: See `alpha_t`.
    beta_t: float = 0.0
    #: Where the factors of the normals begin and end.
    alpha_n: float = 0.1
    #: See `alpha_n`.
    beta_n: float = 0.0
    #: The exponent r of the distance.
    exponent: int = 2
    #: Which areas weigh the elements: those at ``"rest"`` or the ``"current"`` ones.
    areas: str = "rest"
    #: How far elements act: so that nothing acts at ``"rest"``, or d̂ for all (``"uniform"``).
    reach: str = "rest"


class Surface:
    """A surface that can be in contact: triangles, segments and bare points over the `rest` positions. Vertices that
    none of them has are left alone, so that arrays may be those of a whole volume mesh.

    Args:
        rest: Positions at rest, m (n×3).
        triangles: Triangles (m×3), seen from outside counter-clockwise where the surface is closed.
        segments: Segments of rods and wires (m×2).
        points: Vertices that are points.
        thickness: Distance ξ below which two primitives never come, m, of all or of each vertex (n). Between two
            primitives it is the mean of theirs.
        mobile: Whether each vertex can move (n); primitives that cannot do not touch each other.
        groups: A number for each vertex (n), from 0.
        ignore: Pairs of groups that do not touch each other; ``(0, 0)`` for a group that does not touch itself.
    """

    def __init__(
        self,
        rest: ArrayLike,
        triangles: ArrayLike | None = None,
        segments: ArrayLike | None = None,
        points: Sequence[int] = (),
        *,
        thickness: ArrayLike = 0.0,
        mobile: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        ignore: Sequence[tuple[int, int]] = (),
    ) -> None:
        #: Rest positions, m (n×3).
        self.rest = _points(rest, "rest")
        n = len(self.rest)
        offsets = np.asarray(thickness, dtype=np.float64)
        if offsets.ndim and offsets.shape != (n,):
            raise ValueError(f"thickness: expected a number or an array of shape ({n},), got {offsets.shape}")
        given = offsets.any()
        offsets = np.full(n, offsets) if offsets.ndim == 0 else offsets
        if groups is None and len(ignore):
            raise ValueError("ignore: pairs of groups, but no groups are given")
        numbers = None if groups is None else _numbers(groups, "groups", n, 1 << 16)
        pairs = _corners(ignore, "ignore", 2)
        if len(pairs) and (pairs.min() < 0 or pairs.max() >= 1 << 16):
            raise ValueError(f"ignore: expected pairs of groups, which are numbers from 0 to {(1 << 16) - 1}")
        moves = None if mobile is None else [k == 1 for k in _numbers(mobile, "mobile", n, 2)]
        self._core = _core.CoreMesh(
            self.rest,
            _elements(triangles, "triangles", 3),
            _elements(segments, "segments", 2),
            _numbers(points, "points", None, n),
            offsets.tolist() if given else None,
            moves,
            None if numbers is None else (numbers, [(a, b) for a, b in pairs.tolist()]),
        )

    @property
    def edges(self) -> NDArray[np.int64]:
        """Edges of the triangles, and segments (m×2)."""
        return self._core.edges

    @property
    def faces(self) -> NDArray[np.int64]:
        """Triangles (m×3)."""
        return self._core.faces

    def candidates(
        self, x: ArrayLike, x1: ArrayLike | None = None, *, distance: float = 0.0
    ) -> dict[str, NDArray[np.int64]]:
        """Pairs of primitives (indices into vertices, `edges`, `faces`) whose boxes come as close as `distance`
        at `x`, or on straight ways from `x` to `x1`: every pair that comes as close is among them."""
        end = None if x1 is None else _points(x1, "x1")
        return self._core.candidates(_points(x, "x"), end, distance)

    def max_step(
        self, x: ArrayLike, x1: ArrayLike, *, keep: float = 0.1, method: str = "additive"
    ) -> float:
        """The largest t ≤ 1 such that on the way from `x` to `x` + t (`x1` − `x`) every pair keeps the part
        `keep` of its distance beyond the thickness, on the safe side. For `method` see :func:`point_point_time`."""
        return self._core.max_step(_points(x, "x"), _points(x1, "x1"), keep, method)

    def is_free(self, x: ArrayLike, x1: ArrayLike, *, method: str = "additive") -> bool:
        """Whether nothing collides on the straight ways from `x` to `x1`. ``False`` does not say that something
        does: the methods are on the safe side."""
        return self.max_step(x, x1, keep=1e-3, method=method) == 1.0

    def intersections(self, x: ArrayLike) -> list[tuple[str, list[int]]]:
        """Every pair of primitives that intersect at `x`, by exact arithmetic: its kind, such as
        ``"edge-face"``, and the two indices."""
        return self._core.intersections(_points(x, "x"))

    def contacts(
        self,
        x: ArrayLike,
        d_hat: float,
        *,
        stiffness: float = 1.0,
        potential: str | OrientationAware = "ipc",
        barrier: str = "clamped-log",
    ) -> Contacts:
        """Every pair closer than `d_hat` (beyond the thickness) at `x`, with a contact potential: ``"ipc"`` [Li 2020],
        ``"area"`` (weighted by rest areas, `stiffness` in Pa), ``"convergent"`` (the same without duplicates
        [Li 2023]), or ``"orientation-aware"``, which is :class:`OrientationAware` with its defaults. For `barrier`
        see :func:`barrier`."""
        return Contacts(self, _points(x, "x"), d_hat, stiffness, potential, barrier)


class Contacts:
    """The pairs in contact at given positions. Value, gradient and Hessian of the potential may be taken at
    others as long as these are all the pairs."""

    def __init__(
        self,
        surface: Surface,
        x: Array,
        d_hat: float,
        stiffness: float,
        potential: str | OrientationAware,
        barrier: str,
    ) -> None:
        self._n = len(surface.rest)
        shape: OrientationAware | None = None
        if isinstance(potential, OrientationAware):
            kind, shape = "orientation-aware", potential
        else:
            kind = potential
            shape = OrientationAware() if kind == "orientation-aware" else None
        self._core = _core.CoreContacts(surface._core, x, d_hat, stiffness, kind, barrier, shape)

    def __len__(self) -> int:
        return len(self._core)

    @property
    def stencils(self) -> NDArray[np.int64]:
        """Vertices of each pair (m×4), −1 where unused; none of the orientation-aware potential."""
        return self._core.stencils()[0]

    @property
    def weights(self) -> Array:
        """How many pairs of primitives share each stencil, or their area (m)."""
        return self._core.stencils()[1]

    def min_distance(self, x: ArrayLike) -> float:
        """Smallest distance beyond the thickness at `x`, m; infinite without contact."""
        return self._core.min_distance(_points(x, "x"))

    def value(self, x: ArrayLike) -> float:
        """The potential at `x`, J."""
        return self._core.value(_points(x, "x"))

    def gradient(self, x: ArrayLike) -> Array:
        """Its gradient (n×3), N: minus the contact forces."""
        return self._core.gradient(_points(x, "x"))

    def hessian(self, x: ArrayLike, *, project: bool = True) -> Any:
        """Its Hessian, with that of every pair projected to be positive semidefinite unless `project` is
        false."""
        return _matrix(self._core.hessian(_points(x, "x"), project), self._n)

    def friction(
        self,
        x: ArrayLike,
        coefficient: ArrayLike,
        displacement: float,
        *,
        materials: ArrayLike | None = None,
        kinetic: ArrayLike | None = None,
    ) -> Friction:
        """Friction with the normal forces and sliding directions at `x`, static below `displacement` (m): the
        speed ε_v times the time step. `coefficient` is one for all pairs, or a symmetric table (k×k) by the
        `materials` of the vertices (n), numbers from 0. With `kinetic`, of the same form, it is that of rest, and from
        10 times `displacement` on `kinetic` acts."""
        table = _table(coefficient, "coefficient")
        sliding = table if kinetic is None else _table(kinetic, "kinetic")
        numbers = [0] * self._n if materials is None else _numbers(materials, "materials", self._n, len(table))
        return Friction(self._core.friction(_points(x, "x"), table, sliding, numbers, displacement), self._n)


class Friction:
    """Lagged friction [Li 2020, §5]: a potential of the displacement between two positions. See
    :meth:`Contacts.friction`."""

    def __init__(self, core: _core.CoreFriction, n: int) -> None:
        self._core, self._n = core, n

    def __len__(self) -> int:
        return len(self._core)

    def value(self, x: ArrayLike, start: ArrayLike) -> float:
        """The potential of the displacement from `start` to `x`, J."""
        return self._core.value(_points(x, "x"), _points(start, "start"))

    def gradient(self, x: ArrayLike, start: ArrayLike) -> Array:
        """Its gradient (n×3), N: minus the friction forces."""
        return self._core.gradient(_points(x, "x"), _points(start, "start"))

    def hessian(self, x: ArrayLike, start: ArrayLike) -> Any:
        """Its Hessian, projected to be positive semidefinite where friction falls from `coefficient` to `kinetic`."""
        return _matrix(self._core.hessian(_points(x, "x"), _points(start, "start")), self._n)


class Elasticity:
    """Elastic tetrahedra of one material. `law` is that of a scene file, such as ``"neo-hookean"``."""

    def __init__(
        self,
        rest: ArrayLike,
        tetrahedra: ArrayLike,
        young_modulus: float,
        poisson_ratio: float,
        *,
        law: str = "neo-hookean",
    ) -> None:
        rest, elements = _points(rest, "rest"), _corners(tetrahedra, "tetrahedra", 4)
        self._n = len(rest)
        self._core = _core.CoreElasticity(rest, elements, law, young_modulus, poisson_ratio)

    def value(self, x: ArrayLike) -> float:
        """Elastic energy at `x`, J; infinite where an element is inverted."""
        return self._core.value(_points(x, "x"))

    def gradient(self, x: ArrayLike) -> Array:
        """Its gradient (n×3), N: minus the elastic forces."""
        return self._core.gradient(_points(x, "x"))

    def hessian(self, x: ArrayLike, *, project: bool = True) -> Any:
        """Its Hessian, with that of every element projected to be positive semidefinite unless `project` is
        false."""
        return _matrix(self._core.hessian(_points(x, "x"), project), self._n)

    def max_step(self, x: ArrayLike, x1: ArrayLike) -> float:
        """The largest t ≤ 1 such that no element inverts on the way from `x` to `x` + t (`x1` − `x`)."""
        return self._core.max_step(_points(x, "x"), _points(x1, "x1"))

    def masses(self, density: float) -> Array:
        """Lumped masses (n) for a density in kg/m³, kg."""
        return self._core.masses(density)
