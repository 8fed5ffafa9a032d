//! The constant matrix of projective dynamics [Bouaziz 2014]: A = M + s Σₑ Vₑ kₑ GₑᵀGₑ over the free vertices, where Gₑ maps
//! positions to the deformation gradient of tetrahedron e, kₑ is a stiffness (Pa), and s the integrator's factor of
//! the elastic energy.
//!
//! A is a scalar matrix times the identity of three components: the factor is that of a Laplacian with one unknown per
//! vertex. It depends on which vertices are free and on s alone, so that a run factorises it once, and again if these
//! change.

use crate::clock::Phase;
use crate::energy::Projection;
use crate::material::Lame;
use crate::potential::{IncrementalPotential, Part, Strategy};
use standoff_linalg::{Mat3, Vec3};
use standoff_sparse::{BlockMatrix, BlockPattern, Cholesky, Ordering, SolveError};
use std::sync::Arc;

/// The matrix of a set of free vertices, factorised.
#[derive(Debug)]
pub struct Laplacian {
    /// Free vertices for which the factor holds.
    free: Vec<bool>,
    /// The factor s of the elastic energy for which it holds, s².
    elastic_scale: f64,
    /// Vertex of each row.
    vertex: Vec<u32>,
    cholesky: Cholesky,
    /// Whether it holds in the next step, too: not where prescribed vertices are constrained to their targets.
    lasts: bool,
}

impl Default for Laplacian {
    fn default() -> Self {
        Self {
            free: Vec::new(),
            elastic_scale: f64::NAN,
            vertex: Vec::new(),
            cholesky: Cholesky::new(Ordering::Automatic),
            lasts: false,
        }
    }
}

impl Laplacian {
    /// Factorises the matrix of a potential with the stiffness of each tetrahedron, unless the last one holds; whether
    /// it did. Constraints of prescribed vertices to their targets add their Hessians.
    ///
    /// # Errors
    /// A matrix that is not positive definite or not finite, too little memory.
    pub fn prepare(
        &mut self,
        potential: &IncrementalPotential<'_>,
        stiffness: impl Fn(&Lame) -> f64,
    ) -> Result<bool, SolveError> {
        let clock = potential.context.clock;
        let scale = potential.context.elastic_scale;
        let lasts = potential.allows(Strategy::LastingMatrix);
        let is_same = self.elastic_scale == scale && self.free == potential.free();
        if self.lasts && lasts && is_same {
            return Ok(false);
        }
        self.lasts = false;
        let matrix = clock.time(Phase::Assembly, || self.assemble(potential, stiffness))?;
        clock.time(Phase::Symbolic, || self.cholesky.analyze(matrix.pattern()))?;
        clock.time(Phase::Factorisation, || self.cholesky.factorize(&matrix))?;
        self.elastic_scale = scale;
        self.lasts = lasts;
        Ok(true)
    }

    fn assemble(
        &mut self,
        potential: &IncrementalPotential<'_>,
        stiffness: impl Fn(&Lame) -> f64,
    ) -> Result<BlockMatrix, SolveError> {
        let (free, model) = (potential.free(), potential.context.model);
        free.clone_into(&mut self.free);
        self.vertex = (0..free.len() as u32).filter(|&v| free[v as usize]).collect();
        let mut row = vec![BlockPattern::ELIMINATED; free.len()];
        for (r, &v) in self.vertex.iter().enumerate() {
            row[v as usize] = r as u32;
        }
        let tets = &model.solids.tets;
        let rows = |t: &[u32; 4]| t.map(|v| row[v as usize]);
        let stencils: Vec<[u32; 4]> = tets.vertices().iter().map(rows).collect();
        let n = self.vertex.len();
        let too_large = |_| SolveError::OutOfMemory { nonzeros: 16 * stencils.len() };
        let pattern = BlockPattern::from_stencils(n, stencils.iter().map(|s| &s[..]));
        let mut matrix = BlockMatrix::zeros(Arc::new(pattern.map_err(too_large)?.isotropic()));
        for (tet, stencil) in tets.elements.iter().zip(&stencils) {
            let weight = potential.context.elastic_scale * tet.volume() * stiffness(tet.lame());
            let products = tet.shape_products();
            let h = products.map(|row| row.map(|g| Mat3::from_diagonal_element(weight * g)));
            matrix.add_stencil(stencil, &h).map_err(too_large)?;
        }
        let mass = |&v: &u32| match potential.inertial()[v as usize] {
            true => model.mass[v as usize],
            false => 0.0,
        };
        let mass: Vec<f64> = self.vertex.iter().map(mass).collect();
        matrix.add_diagonal(&mass).map_err(too_large)?;
        for t in potential.part(Part::Dirichlet) {
            let stencils = t.term.stencils();
            let mut blocks = vec![Mat3::zeros(); stencils.len()];
            t.term.hessians(0..stencils.len(), &[], Projection::All, &mut blocks);
            for (k, block) in blocks.iter().enumerate() {
                let at = row[stencils.get(k)[0] as usize];
                matrix.add_stencil(&[at], &[[block * t.factor]]).map_err(too_large)?;
            }
        }
        Ok(matrix)
    }

    /// A⁻¹ q over all vertices (`#V`), zero for those that are not free.
    ///
    /// # Errors
    /// A matrix that was not factorised.
    pub fn solve(&mut self, q: &[Vec3]) -> Result<Vec<Vec3>, SolveError> {
        let right: Vec<Vec3> = self.vertex.iter().map(|&v| q[v as usize]).collect();
        let mut solution = vec![Vec3::zeros(); right.len()];
        self.cholesky.back_solve(&right, &mut solution)?;
        let mut all = vec![Vec3::zeros(); q.len()];
        for (&v, x) in self.vertex.iter().zip(&solution) {
            all[v as usize] = *x;
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::build;
    use crate::clock::Clock;
    use crate::context::StepContext;
    use crate::definition::{BodyDef, BodyKind, Definition, Motion, PrescribedDef};
    use crate::dirichlet::DirichletTargets;
    use crate::material::{Law, Material};

    /// Two tetrahedra that share a face, one vertex held, of which x are the positions.
    fn pair() -> Definition {
        let corner = |x, y, z| Vec3::new(x, y, z);
        let rest = vec![
            Vec3::zeros(),
            corner(0.3, 0.0, 0.1),
            corner(0.1, 0.4, 0.0),
            corner(0.0, 0.1, 0.2),
            corner(0.3, 0.4, 0.5),
        ];
        let law = Law::FixedCorotated;
        let body = BodyDef {
            name: "pair".into(),
            rest,
            kind: BodyKind::Volume {
                middles: Vec::new(),
                tets: vec![[0, 1, 2, 3], [1, 2, 3, 4]],
                density: 700.0,
                material: Material { law, young_modulus: 3e4, poisson_ratio: 0.3 },
            },
            ..BodyDef::default()
        };
        let held = PrescribedDef::new("held", 0, vec![2], Motion::Fixed);
        Definition { bodies: vec![body], prescribed: vec![held], ..Definition::default() }
    }

    /// A solution put into M x + s Σ V k Gᵀ G x, element by element, gives the right-hand side.
    #[test]
    fn solves_the_system_of_projective_dynamics() {
        let (model, state) = build(&pair()).expect("a model");
        let clock = Clock::start();
        let context = StepContext::new(&model, &state, &clock);
        let targets = DirichletTargets::new(&model, &state);
        let potential = IncrementalPotential::new(context, &state, &targets);
        let stiffness = |lame: &Lame| lame.lambda + 0.7 * lame.mu;
        let mut laplacian = Laplacian::default();
        assert!(laplacian.prepare(&potential, stiffness).expect("a factor"));
        assert!(!laplacian.prepare(&potential, stiffness).expect("the same factor"));
        let number = |v: usize, c: usize| (5.0 * v as f64 + c as f64).sin();
        let right: Vec<Vec3> = (0..5).map(|v| Vec3::from_fn(|c, _| number(v, c))).collect();
        let x = laplacian.solve(&right).expect("a solution");
        assert_eq!(x[2], Vec3::zeros());
        let mut back: Vec<Vec3> = x.iter().zip(&model.mass).map(|(x, m)| x * *m).collect();
        for (e, tet) in model.solids.tets.elements.iter().enumerate() {
            let k = context.elastic_scale * stiffness(tet.lame());
            let f = tet.deformation_gradient(&model.solids.tets.gather(e, &x));
            for (v, g) in model.solids.tets.vertices()[e].iter().zip(tet.stress_gradient(&(f * k)))
            {
                back[*v as usize] += g;
            }
        }
        for v in [0, 1, 3, 4] {
            assert!((back[v] - right[v]).norm() < 1e-13, "{v}: {} {}", back[v], right[v]);
        }
    }
}
