//! Which Hessians are projected onto the cone of positive semidefinite matrices.

/// The summands of an energy whose Hessians have their negative eigenvalues set to zero. All other Hessians are as they are, possibly
/// indefinite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Projection<'a> {
    /// All summands, so that their sum is positive semidefinite [Teran 2005].
    All,
    /// The summands with at least one marked vertex (`#V`). Vertices beyond the list are not marked.
    Marked(&'a [bool]),
    /// All summands; of contact pairs only the part along the distance's gradient, ∂²b/∂d² ∇d∇dᵀ, is left [Li 2020, §4.3].
    GaussNewton,
}

impl Projection<'_> {
    /// No summand.
    pub const NONE: Projection<'static> = Projection::Marked(&[]);

    /// Whether the summand over these vertices is projected.
    #[inline]
    pub fn applies_to(self, vertices: &[u32]) -> bool {
        match self {
            Self::All | Self::GaussNewton => true,
            Self::Marked(marked) => {
                vertices.iter().any(|&v| marked.get(v as usize).copied().unwrap_or(false))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marked_vertex_is_enough() {
        assert!(Projection::All.applies_to(&[]) && Projection::GaussNewton.applies_to(&[]));
        let marked = [false, true, false];
        let projection = Projection::Marked(&marked);
        assert!(projection.applies_to(&[0, 1]) && projection.applies_to(&[1]));
        assert!(!projection.applies_to(&[0, 2]) && !projection.applies_to(&[0, 3, u32::MAX]));
        assert!(!Projection::NONE.applies_to(&[0, 1, 2]));
    }
}
