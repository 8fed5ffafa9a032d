//! Squared distances between primitives, with gradients and Hessians.
