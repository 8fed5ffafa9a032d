//! Subdomains of a scene: parts of all deformable bodies along the boundaries of their elements.
//!
//! [`partition`] gives every vertex a part; an element (a tetrahedron, a triangle, a hinge,
//! a segment, a spring) goes where most of its vertices are. A subdomain has all vertices of its elements, so
//! that subdomains share the vertices between them [Li 2020 thesis, §3.4.3].

use crate::definition::settings::DecompositionSettings;
use standoff_sparse::{BlockPattern, MatrixError, Stencils, partition};

/// Marks a vertex of an obstacle, which belongs to no subdomain of its own.
const NONE: u32 = u32::MAX;

/// The subdomains of a scene: a function of its elements and settings alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decomposition {
    /// Part of each vertex (`#V`).
    part: Vec<u32>,
    /// Vertices of each subdomain, ascending. Those between subdomains are in several.
    pub vertices: Vec<Vec<u32>>,
}

impl Decomposition {
    /// The subdomains of the vertices that `belongs` (`#V`) to deformable bodies, along the boundaries of
    /// `elements`.
    ///
    /// # Errors
    /// More couplings than 32-bit indices can name.
    pub fn new(
        belongs: &[bool],
        elements: Vec<Stencils<'_>>,
        settings: &DecompositionSettings,
    ) -> Result<Self, MatrixError> {
        let mut number = vec![BlockPattern::ELIMINATED; belongs.len()];
        let own: Vec<u32> = (0..belongs.len() as u32).filter(|&v| belongs[v as usize]).collect();
        for (k, &v) in own.iter().enumerate() {
            number[v as usize] = k as u32;
        }
        let of = |v: u32| *number.get(v as usize).unwrap_or(&BlockPattern::ELIMINATED);
        let lists: Vec<Stencils<'_>> = elements.into_iter().map(|s| s.map(of)).collect();
        let stencils = || lists.iter().flat_map(Stencils::iter);
        let pattern = BlockPattern::from_stencils(own.len(), stencils())?;
        let found = partition(&pattern, settings.count(own.len()));
        let count = found.iter().max().map_or(0, |&p| p as usize + 1);
        let mut result = Self { part: found, vertices: vec![Vec::new(); count] };
        for stencil in stencils() {
            let inside = || stencil.iter().filter(|v| **v != BlockPattern::ELIMINATED);
            let owner = result.owner(stencil) as usize;
            result.vertices[owner].extend(inside().map(|&v| own[v as usize]));
        }
        let mut part = vec![NONE; belongs.len()];
        for (&v, &p) in own.iter().zip(&result.part) {
            part[v as usize] = p;
        }
        result.part = part;
        let mut covered = vec![false; belongs.len()];
        for vertices in &mut result.vertices {
            vertices.sort_unstable();
            vertices.dedup();
            vertices.iter().for_each(|&v| covered[v as usize] = true);
        }
        // vertices without elements are where the partition put them
        for &v in own.iter().filter(|v| !covered[**v as usize]) {
            result.vertices[result.part[v as usize] as usize].push(v);
        }
        result.vertices.iter_mut().for_each(|vertices| vertices.sort_unstable());
        Ok(result)
    }

    /// Number of subdomains.
    pub fn len(&self) -> usize {
        self.vertices.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.vertices.is_empty()
    }

    /// Where the partition put a vertex; nowhere if it belongs to an obstacle.
    pub fn part(&self, vertex: u32) -> Option<u32> {
        self.part.get(vertex as usize).copied().filter(|&p| p != NONE)
    }

    /// The subdomain of an element or contact: that of most of its vertices, of several such the first;
    /// of obstacles alone, the first of all.
    pub fn owner(&self, stencil: &[u32]) -> u32 {
        let part = |v: &u32| self.part(*v);
        let votes = |p: u32| stencil.iter().filter(|v| part(v) == Some(p)).count();
        let parts = stencil.iter().filter_map(part);
        // max_by_key takes the last of equals
        let best = parts.max_by_key(|&p| (votes(p), std::cmp::Reverse(p)));
        best.unwrap_or(0)
    }
}
