//! Systems like those of the simulator, for tests and the example.
#![allow(dead_code)]

use std::sync::Arc;

use standoff_linalg::{Mat3, Vec3};
use standoff_sparse::{BlockMatrix, BlockPattern, StencilAssembly};

/// A small generator of numbers in [0, 1), the same everywhere (splitmix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    pub fn real(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
    /// In [-1, 1).
    pub fn signed(&mut self) -> f64 {
        2.0 * self.real() - 1.0
    }
    pub fn below(&mut self, n: u32) -> u32 {
        (self.next() % u64::from(n)) as u32
    }
    pub fn vec3(&mut self) -> Vec3 {
        Vec3::from_fn(|_, _| self.signed())
    }
    pub fn vectors(&mut self, n: usize) -> Vec<Vec3> {
        (0..n).map(|_| self.vec3()).collect()
    }
}

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
        let assembly = StencilAssembly::new(pattern, &self.tets).expect("valid");
        assembly.add_to(&mut a, &self.stiffness(1.0, 1.0)).expect("fits");
        a.add_diagonal(&vec![mass; self.positions.len()]).expect("fits");
        a
    }
}

/// Contacts: stiff springs k (w nᵀ)ᵀ(w nᵀ) over four vertices, weights w of a point on a triangle.
pub fn contacts(n: u32, count: usize, random: &mut Random) -> Vec<([u32; 4], [Vec3; 4])> {
    (0..count)
        .map(|_| {
            let mut v = [0; 4];
            for k in 0..4 {
                while v[..k].contains(&v[k]) || k == 0 && v[0] == 0 {
                    v[k] = random.below(n - 1) + 1;
                }
                if v[k] == 0 {
                    v[k] = n - 1 - k as u32;
                }
            }
            let normal = random.vec3().normalize();
            let (s, t) = (0.5 * random.real(), 0.5 * random.real());
            (v, [1.0, s + t - 1.0, -s, -t].map(|w| w * normal))
        })
        .collect()
}

pub fn contact_hessian(k: f64, g: &[Vec3; 4]) -> Hessian<4> {
    std::array::from_fn(|a| std::array::from_fn(|b| k * g[a] * g[b].transpose()))
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
