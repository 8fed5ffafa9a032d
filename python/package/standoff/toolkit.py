"""The building blocks of contact and elasticity on plain arrays, for solvers of one's own.

Positions are arrays (n×3) in m, forces and gradients (n×3) in N, Hessians sparse matrices (3n×3n) in N/m whose
row 3i + k belongs to coordinate k of vertex i; those need SciPy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _standoff as _core

Array = NDArray[np.float64]

__all__ = [
    "Contacts",
    "Elasticity",
    "Friction",
    "Surface",
    "barrier",
    "edge_edge_distance",
    "point_edge_distance",
    "point_point_distance",
    "point_triangle_distance",
]


def _points(array: ArrayLike) -> Array:
    out = np.ascontiguousarray(array, dtype=np.float64)
    return out.reshape(1, -1) if out.ndim == 1 else out


def _elements(array: ArrayLike | None) -> NDArray[np.int64] | None:
    return None if array is None else np.ascontiguousarray(array, dtype=np.int64)


def _matrix(triplets: Any, n: int) -> Any:
    from scipy.sparse import csr_matrix

    rows, columns, values = triplets
    return csr_matrix((values, (rows, columns)), shape=(3 * n, 3 * n))


def point_point_distance(a: ArrayLike, b: ArrayLike) -> tuple[Array, Array, Array]:
    """Squared distances d² of pairs of points (n), m², with gradients (n×6) and Hessians (n×6×6)."""
    return _core.point_point_distance(_points(a), _points(b))


def point_edge_distance(p: ArrayLike, a: ArrayLike, b: ArrayLike) -> tuple[Array, Array, Array]:
    """Squared distances of points p and segments a–b (n), with gradients (n×9) and Hessians (n×9×9)."""
    return _core.point_edge_distance(_points(p), _points(a), _points(b))


def edge_edge_distance(
    a0: ArrayLike, a1: ArrayLike, b0: ArrayLike, b1: ArrayLike
) -> tuple[Array, Array, Array]:
    """Squared distances of segments (n), with gradients (n×12) and Hessians (n×12×12)."""
    return _core.edge_edge_distance(*(_points(x) for x in (a0, a1, b0, b1)))


def point_triangle_distance(
    p: ArrayLike, a: ArrayLike, b: ArrayLike, c: ArrayLike
) -> tuple[Array, Array, Array]:
    """Squared distances of points p and triangles a–b–c (n), with gradients (n×12) and Hessians
    (n×12×12)."""
    return _core.point_triangle_distance(*(_points(x) for x in (p, a, b, c)))


def barrier(squared_distances: ArrayLike, d_hat: float) -> Array:
    """[b, b′, b″] (n×3) of the barrier b(s) = −(s − ŝ)² ln(s/ŝ) of squared distances s, ŝ = d̂²
    [Li 2020, Eq. 6]; 0 beyond d̂."""
    return _core.barrier(np.atleast_1d(np.asarray(squared_distances, dtype=np.float64)).tolist(), d_hat)


class Surface:
    """A surface that can be in contact: triangles, segments and bare points over the `rest` positions."""

    def __init__(
        self,
        rest: ArrayLike,
        triangles: ArrayLike | None = None,
        segments: ArrayLike | None = None,
        points: Sequence[int] = (),
    ) -> None:
        #: Rest positions, m (n×3).
        self.rest = _points(rest)
        self._core = _core.CoreMesh(
            self.rest, _elements(triangles), _elements(segments), list(points)
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
        end = None if x1 is None else _points(x1)
        return self._core.candidates(_points(x), end, 0.5 * distance)

    def max_step(
        self, x: ArrayLike, x1: ArrayLike, *, keep: float = 0.1, method: str = "additive"
    ) -> float:
        """The largest t ≤ 1 such that on the way from `x` to `x` + t (`x1` − `x`) every pair keeps the part
        `keep` of its distance, on the safe side [Li 2021, Alg. 1]; `method` may be ``"inclusion"``
        [Wang 2021]."""
        return self._core.max_step(_points(x), _points(x1), keep, method)

    def intersections(self, x: ArrayLike) -> list[tuple[str, list[int]]]:
        """Every pair of primitives that intersect at `x`, by exact arithmetic: its kind, such as
        ``"edge-face"``, and the two indices."""
        return self._core.intersections(_points(x))

    def contacts(
        self, x: ArrayLike, d_hat: float, *, stiffness: float = 1.0, potential: str = "ipc"
    ) -> Contacts:
        """Every pair closer than `d_hat` at `x`, with a contact potential: ``"ipc"`` [Li 2020], ``"area"``
        (weighted by rest areas, `stiffness` in Pa), ``"convergent"`` (the same without duplicates
        [Li 2023]), or ``"orientation-aware"`` [Huang 2024] on closed surfaces."""
        return Contacts(self, _points(x), d_hat, stiffness, potential)


class Contacts:
    """The pairs in contact at given positions. Value, gradient and Hessian of the potential may be taken at
    others as long as these are all the pairs."""

    def __init__(
        self, surface: Surface, x: Array, d_hat: float, stiffness: float, potential: str
    ) -> None:
        self._n = len(surface.rest)
        self._core = _core.CoreContacts(surface._core, x, d_hat, stiffness, potential)

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
        """Smallest distance at `x`, m; infinite without contact."""
        return self._core.min_distance(_points(x))

    def value(self, x: ArrayLike) -> float:
        """The potential at `x`, J."""
        return self._core.value(_points(x))

    def gradient(self, x: ArrayLike) -> Array:
        """Its gradient (n×3), N: minus the contact forces."""
        return self._core.gradient(_points(x))

    def hessian(self, x: ArrayLike, *, project: bool = True) -> Any:
        """Its Hessian, with that of every pair projected to be positive semidefinite unless `project` is
        false."""
        return _matrix(self._core.hessian(_points(x), project), self._n)

    def friction(self, x: ArrayLike, coefficient: float, displacement: float) -> Friction:
        """Friction with the normal forces and sliding directions at `x`, static below `displacement` (m): the
        speed ε_v times the time step."""
        friction = Friction.__new__(Friction)
        friction._core = self._core.friction(_points(x), coefficient, displacement)
        friction._n = self._n
        return friction


class Friction:
    """Lagged friction [Li 2020, §5]: a potential of the displacement between two positions."""

    _core: Any
    _n: int

    def __len__(self) -> int:
        return len(self._core)

    def value(self, x: ArrayLike, start: ArrayLike) -> float:
        """The potential of the displacement from `start` to `x`, J."""
        return self._core.value(_points(x), _points(start))

    def gradient(self, x: ArrayLike, start: ArrayLike) -> Array:
        """Its gradient (n×3), N: minus the friction forces."""
        return self._core.gradient(_points(x), _points(start))

    def hessian(self, x: ArrayLike, start: ArrayLike) -> Any:
        """Its Hessian, positive semidefinite."""
        return _matrix(self._core.hessian(_points(x), _points(start)), self._n)


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
        rest, elements = _points(rest), np.ascontiguousarray(tetrahedra, dtype=np.int64)
        self._n = len(rest)
        self._core = _core.CoreElasticity(rest, elements, law, young_modulus, poisson_ratio)

    def value(self, x: ArrayLike) -> float:
        """Elastic energy at `x`, J; infinite where an element is inverted."""
        return self._core.value(_points(x))

    def gradient(self, x: ArrayLike) -> Array:
        """Its gradient (n×3), N: minus the elastic forces."""
        return self._core.gradient(_points(x))

    def hessian(self, x: ArrayLike) -> Any:
        """Its Hessian, with that of every element projected to be positive semidefinite."""
        return _matrix(self._core.hessian(_points(x)), self._n)

    def max_step(self, x: ArrayLike, x1: ArrayLike) -> float:
        """The largest t ≤ 1 such that no element inverts on the way from `x` to `x` + t (`x1` − `x`)."""
        return self._core.max_step(_points(x), _points(x1))

    def masses(self, density: float) -> Array:
        """Lumped masses (n) for a density in kg/m³, kg."""
        return self._core.masses(density)
