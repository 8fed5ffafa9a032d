//! Systems like those of the simulator, for tests and the example.
#![allow(dead_code)]

pub mod faer_twin;

use std::sync::Arc;

use standoff_linalg::{Mat3, Vec3};
use standoff_sparse::{
    BlockMatrix, BlockPattern, FixedAssembly, Layout, Stencils, block_count, pack,
};
pub use standoff_testkit::Random;

pub type Hessian<const N: usize> = [[Mat3; N]; N];

/// A positive semidefinite 3N×3N matrix Gᵀ G of rank min(3, 3N).
pub fn random_psd<const N: usize>(random: &mut Random) -> Hessian<N> {
    let g: [Mat3; N] = std::array::from_fn(|_| Mat3::from_fn(|_, _| random.signed()));
    std::array::from_fn(|a| std::array::from_fn(|b| g[a].transpose() * g[b]))
}

/// A solid cube of `side`³ vertices a distance 1 apart, 6 tetrahedra per cell.
pub struct Cube {
    pub positions: Vec<Vec3>,
    pub tets: Vec<[u32; 4]>,
}

impl Cube {
    pub fn new(side: u32) -> Self {
        let id = |x: u32, y: u32, z: u32| (z * side + y) * side + x;
        let positions = (0..side * side * side)
            .map(|v| [v % side, v / side % side, v / side / side])
            .map(|c| Vec3::new(f64::from(c[0]), f64::from(c[1]), f64::from(c[2])))
            .collect();
        let mut tets = Vec::new();
        let paths = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
        for cell in 0..(side - 1).pow(3) {
            let s = side - 1;
            for path in paths {
                // Kuhn: from one corner of the cell to the opposite one, an axis at a time
                let mut corner = [cell % s, cell / s % s, cell / s / s];
                let mut tet = [id(corner[0], corner[1], corner[2]); 4];
                for (k, axis) in path.into_iter().enumerate() {
                    corner[axis] += 1;
                    tet[k + 1] = id(corner[0], corner[1], corner[2]);
                }
                tets.push(tet);
            }
        }
        Self { positions, tets }
    }

    /// Stiffness of linear elasticity, one matrix per tetrahedron:
    /// K_ab = V (λ g_a g_bᵀ + μ g_b g_aᵀ + μ g_a·g_b I) with the gradients g of the shape functions.
    pub fn stiffness(&self, lambda: f64, mu: f64) -> Vec<Hessian<4>> {
        self.tets.iter().map(|tet| self.element(tet, lambda, mu)).collect()
    }

    fn element(&self, tet: &[u32; 4], lambda: f64, mu: f64) -> Hessian<4> {
        let x = tet.map(|v| self.positions[v as usize]);
        let edges = Mat3::from_columns(&[x[1] - x[0], x[2] - x[0], x[3] - x[0]]);
        let volume = edges.determinant().abs() / 6.0;
        let inverse = edges.try_inverse().expect("a proper tetrahedron");
        let mut g = [Vec3::zeros(); 4];
        for k in 0..3 {
            g[k + 1] = inverse.row(k).transpose();
            g[0] -= g[k + 1];
        }
        let block = |a: usize, b: usize| {
            volume
                * (lambda * g[a] * g[b].transpose()
                    + mu * g[b] * g[a].transpose()
                    + mu * g[a].dot(&g[b]) * Mat3::identity())
        };
        std::array::from_fn(|a| std::array::from_fn(|b| block(a, b)))
    }

    pub fn pattern(&self) -> Arc<BlockPattern> {
        let stencils = self.tets.iter().map(|t| &t[..]);
        Arc::new(BlockPattern::from_stencils(self.positions.len(), stencils).expect("valid"))
    }

    /// Stiffness plus `mass` on the diagonal.
    pub fn matrix(&self, mass: f64) -> BlockMatrix {
        let pattern = self.pattern();
        let mut a = BlockMatrix::zeros(pattern.clone());
        let diagonal = vec![mass; self.positions.len()];
        let blocks = packed(&self.stiffness(1.0, 1.0));
        assembly_of(&pattern, &self.tets).assemble(&mut a, 1.0, &blocks, &diagonal).expect("fits");
        a
    }
}

/// The stored blocks of whole Hessians, one after the other.
pub fn packed<const N: usize>(hessians: &[[[Mat3; N]; N]]) -> Vec<Mat3> {
    let mut out = vec![Mat3::zeros(); hessians.len() * block_count(N)];
    for (h, out) in hessians.iter().zip(out.chunks_mut(block_count(N))) {
        pack(h, out);
    }
    out
}

/// The assembly of whole Hessians over one list of stencils.
pub fn assembly_of<const N: usize>(
    pattern: &Arc<BlockPattern>,
    stencils: &[[u32; N]],
) -> FixedAssembly {
    let list = (Stencils::from(stencils), Layout::Complete);
    FixedAssembly::new(pattern.clone(), &[list]).expect("valid")
}

/// One cube on another, turned aside, in contact: every vertex of either face with the triangle
/// of the other face over which it lies.
pub struct Stack {
    pub cube: Cube,
    /// Vertices of each pair (a point, a triangle), those of the upper cube after the lower ones.
    pub contacts: Vec<[u32; 4]>,
    /// Gradient of each pair's distance.
    pub gradients: Vec<[Vec3; 4]>,
}

impl Stack {
    pub fn new(side: u32, random: &mut Random) -> Self {
        let half = side * side * side;
        let lower = |x: u32, y: u32| half - side * side + y * side + x;
        let upper = |x: u32, y: u32| half + y * side + x;
        let (mut contacts, mut gradients) = (Vec::new(), Vec::new());
        for (x, y) in (0..side * side).map(|v| (v % side, v / side)) {
            for (sign, point, face) in [
                (-1.0, lower(x, y), &upper as &dyn Fn(u32, u32) -> u32),
                (1.0, upper(x, y), &lower),
            ] {
                let (u, v) = (f64::from(x) + 0.3 * sign, f64::from(y) + 0.4 * sign);
                let last = f64::from(side - 1);
                if !(0.0..last).contains(&u) || !(0.0..last).contains(&v) {
                    continue;
                }
                let (i, j) = (u as u32, v as u32);
                let (s, t) = (u - f64::from(i), v - f64::from(j));
                let (corner, weights) = if s > t {
                    (face(i + 1, j), [1.0 - s, s - t, t])
                } else {
                    (face(i, j + 1), [1.0 - t, t - s, s])
                };
                let normal = (Vec3::z() + 0.1 * random.vec3()).normalize();
                contacts.push([point, face(i, j), corner, face(i + 1, j + 1)]);
                let [a, b, c] = weights;
                gradients.push([1.0, -a, -b, -c].map(|w| w * normal));
            }
        }
        Self { cube: Cube::new(side), contacts, gradients }
    }

    /// The matrix of both cubes without the contacts.
    pub fn free_matrix(&self, mass: f64) -> BlockMatrix {
        let half = self.cube.positions.len();
        let both: Vec<[u32; 4]> =
            self.cube.tets.iter().flat_map(|t| [*t, t.map(|v| v + half as u32)]).collect();
        let stencils = both.iter().map(|t| &t[..]);
        let pattern = Arc::new(BlockPattern::from_stencils(2 * half, stencils).expect("valid"));
        let stiffness: Vec<_> =
            self.cube.stiffness(1.0, 1.0).into_iter().flat_map(|k| [k, k]).collect();
        let mut a = BlockMatrix::zeros(pattern.clone());
        let (blocks, diagonal) = (packed(&stiffness), vec![mass; 2 * half]);
        assembly_of(&pattern, &both).assemble(&mut a, 1.0, &blocks, &diagonal).expect("fits");
        a
    }

    /// `free` with the contacts' stiffness k g gᵀ, log k uniform between those of the ends.
    pub fn with_contacts(
        &self,
        free: &BlockMatrix,
        k: [f64; 2],
        random: &mut Random,
    ) -> BlockMatrix {
        let extra = BlockPattern::stencil_pairs(self.contacts.iter().map(|v| &v[..]));
        let union = free.pattern().union(&extra).expect("valid");
        let embedding = free.pattern().embedding(&union).expect("superset");
        let mut a = BlockMatrix::zeros(union);
        a.add_embedded(free, &embedding).expect("fits");
        for (v, g) in self.contacts.iter().zip(&self.gradients) {
            let k = k[0] * (k[1] / k[0]).powf(random.unit());
            let h = std::array::from_fn(|a| std::array::from_fn(|b| k * g[a] * g[b].transpose()));
            a.add_stencil(v, &h).expect("in the pattern");
        }
        a
    }
}

/// ‖b − A x‖ / ‖b‖ by scalar loops over all stored blocks.
pub fn relative_residual(a: &BlockMatrix, b: &[Vec3], x: &[Vec3]) -> f64 {
    let mut r = b.to_vec();
    for j in 0..a.n() {
        let begin = a.pattern().col_ptr()[j] as usize;
        for (k, &i) in a.pattern().column(j).iter().enumerate() {
            let block = a.blocks()[begin + k];
            r[i as usize] -= block * x[j];
            if i as usize != j {
                r[j] -= block.transpose() * x[i as usize];
            }
        }
    }
    let norm = |v: &[Vec3]| v.iter().map(|v| v.norm_squared()).sum::<f64>().sqrt();
    norm(&r) / norm(b)
}

/// The matrix of a cube whose lowest vertices are held, without mass to speak of, and where its rows are. `material` is the
/// stiffness of a cell by its place.
pub fn held_cube(side: u32, material: &dyn Fn(u32, u32, u32) -> f64) -> (BlockMatrix, Vec<Vec3>) {
    let cube = Cube::new(side);
    let held = side * side;
    let row = |v: u32| v.checked_sub(held).unwrap_or(BlockPattern::ELIMINATED);
    let rows: Vec<[u32; 4]> = cube.tets.iter().map(|t| t.map(row)).collect();
    let n = cube.positions.len() - held as usize;
    let stencils = rows.iter().map(|t| &t[..]);
    let pattern = Arc::new(BlockPattern::from_stencils(n, stencils).expect("valid"));
    let mut stiffness = cube.stiffness(1.0, 1.0);
    for (tet, k) in cube.tets.iter().zip(&mut stiffness) {
        // the corner of the cell
        let corner = tet.map(|v| [v % side, v / side % side, v / side / side]);
        let least = [0, 1, 2].map(|a| corner.iter().map(|c| c[a]).min().unwrap_or(0));
        let factor = material(least[0], least[1], least[2]);
        k.iter_mut().flatten().for_each(|block| *block *= factor);
    }
    let list = (Stencils::from(&rows[..]), Layout::Complete);
    let mut assembly = FixedAssembly::new(pattern.clone(), &[list]).expect("valid");
    let mut a = BlockMatrix::zeros(pattern);
    assembly.assemble(&mut a, 1.0, &packed(&stiffness), &vec![1e-9; n]).expect("fits");
    (a, cube.positions[held as usize..].to_vec())
}
