//! The slow and obvious twin of the orientation-aware potential: the paper's formulas, written down
//! with second-order automatic differentiation by all vertices around a pair.

use standoff_geometry::{CollisionMesh, PairKind};
use standoff_linalg::Vec3;
use standoff_sim::contact::orientation::{Measure, Pair, Parameters, Step, Surface};
use std::ops::{Add, Mul, Sub};

/// A value with gradient and Hessian by any number of variables.
#[derive(Debug, Clone, PartialEq)]
pub struct Ad {
    pub v: f64,
    pub g: Vec<f64>,
    pub h: Vec<f64>,
}

impl Ad {
    pub fn constant(v: f64, n: usize) -> Self {
        Self { v, g: vec![0.0; n], h: vec![0.0; n * n] }
    }
    fn like(&self, v: f64) -> Self {
        Self::constant(v, self.g.len())
    }
    pub fn variable(v: f64, i: usize, n: usize) -> Self {
        let mut out = Self::constant(v, n);
        out.g[i] = 1.0;
        out
    }
    pub fn chain(&self, f: f64, f1: f64, f2: f64) -> Self {
        let n = self.g.len();
        let mut out = Self::constant(f, n);
        for i in 0..n {
            out.g[i] = f1 * self.g[i];
            for j in 0..n {
                out.h[i * n + j] = f1 * self.h[i * n + j] + f2 * self.g[i] * self.g[j];
            }
        }
        out
    }
    fn sqrt(&self) -> Self {
        let r = self.v.sqrt();
        self.chain(r, 0.5 / r, -0.25 / (r * self.v))
    }
    fn recip(&self) -> Self {
        let r = 1.0 / self.v;
        self.chain(r, -r * r, 2.0 * r * r * r)
    }
    fn powi(&self, n: i32) -> Self {
        let m = f64::from(n);
        let p = |k: i32| self.v.powi(n - k);
        self.chain(p(0), m * p(1), m * (m - 1.0) * p(2))
    }
    fn times(&self, c: f64) -> Self {
        self.chain(c * self.v, c, 0.0)
    }
}

impl Add for &Ad {
    type Output = Ad;
    fn add(self, o: &Ad) -> Ad {
        let mut out = self.clone();
        out.v += o.v;
        out.g.iter_mut().zip(&o.g).for_each(|(a, b)| *a += b);
        out.h.iter_mut().zip(&o.h).for_each(|(a, b)| *a += b);
        out
    }
}

impl Sub for &Ad {
    type Output = Ad;
    fn sub(self, o: &Ad) -> Ad {
        self + &o.times(-1.0)
    }
}

impl Mul for &Ad {
    type Output = Ad;
    fn mul(self, o: &Ad) -> Ad {
        let n = self.g.len();
        let mut out = Ad::constant(self.v * o.v, n);
        for i in 0..n {
            out.g[i] = self.v * o.g[i] + o.v * self.g[i];
            for j in 0..n {
                out.h[i * n + j] = self.v * o.h[i * n + j]
                    + o.v * self.h[i * n + j]
                    + self.g[i] * o.g[j]
                    + o.g[i] * self.g[j];
            }
        }
        out
    }
}

type V = [Ad; 3];

fn sub(a: &V, b: &V) -> V {
    std::array::from_fn(|k| &a[k] - &b[k])
}
fn dot(a: &V, b: &V) -> Ad {
    &(&(&a[0] * &b[0]) + &(&a[1] * &b[1])) + &(&a[2] * &b[2])
}
fn cross(a: &V, b: &V) -> V {
    std::array::from_fn(|k| {
        let (i, j) = ((k + 1) % 3, (k + 2) % 3);
        &(&a[i] * &b[j]) - &(&a[j] * &b[i])
    })
}
fn scale(a: &V, c: &Ad) -> V {
    std::array::from_fn(|k| &a[k] * c)
}
fn unit(a: &V) -> V {
    scale(a, &dot(a, a).sqrt().recip())
}
/// Part of `r` across `e`.
fn across(e: &V, r: &V) -> V {
    sub(r, &scale(e, &(&dot(e, r) * &dot(e, e).recip())))
}
/// Part of `r` along `n`.
fn along(n: &V, r: &V) -> V {
    scale(n, &(&dot(n, r) * &dot(n, n).recip()))
}

/// H of the paper.
fn heaviside(z: &Ad) -> Ad {
    let one = z.like(1.0);
    if z.v < -3.0 {
        z.like(0.0)
    } else if z.v < -2.0 {
        (&z.like(3.0) + z).powi(3).times(1.0 / 6.0)
    } else if z.v < -1.0 {
        let parts = [z.like(3.0), z.times(-9.0), z.powi(2).times(-9.0), z.powi(3).times(-2.0)];
        parts.iter().skip(1).fold(parts[0].clone(), |sum, p| &sum + p).times(1.0 / 6.0)
    } else if z.v < 0.0 {
        &one + &z.powi(3).times(1.0 / 6.0)
    } else {
        one
    }
}

/// H^{α,β}(z) = H(3 (z − β)/(α + β)).
fn step(z: &Ad, s: &Step) -> Ad {
    heaviside(&(z - &z.like(s.beta)).times(3.0 / (s.alpha + s.beta)))
}

/// h_ε(z)/z^r with h_ε(z) = 3/2 B³(2z/ε).
fn kernel(z: &Ad, eps: f64, r: i32) -> Ad {
    let v = z.times(2.0 / eps);
    let b = if v.v < 1.0 {
        let parts = [v.powi(2).times(-1.0), v.powi(3).times(0.5)];
        parts.iter().fold(v.like(2.0 / 3.0), |sum, p| &sum + p)
    } else if v.v < 2.0 {
        (&v.like(2.0) - &v).powi(3).times(1.0 / 6.0)
    } else {
        v.like(0.0)
    };
    &b.times(1.5) * &z.powi(-r)
}

fn mollify(z: &Ad) -> Ad {
    if z.v <= 0.0 {
        z.like(0.0)
    } else if z.v < 1.0 {
        z * &(&z.like(2.0) - z)
    } else {
        z.like(1.0)
    }
}

/// Squared distance of p from the segment ab.
fn segment_d2(p: &V, a: &V, b: &V) -> Ad {
    let (e, r) = (sub(b, a), sub(p, a));
    let t = dot(&e, &r).v / dot(&e, &e).v;
    let offset = if t <= 0.0 {
        r
    } else if t >= 1.0 {
        sub(p, b)
    } else {
        across(&e, &r)
    };
    dot(&offset, &offset)
}

enum Element {
    Vertex(u32),
    Edge(u32),
    Face(u32),
}

pub struct Twin<'a> {
    pub mesh: &'a CollisionMesh,
    pub surface: &'a Surface,
    pub parameters: &'a Parameters,
    pub x: &'a [Vec3],
}

/// A pair's energy by the given vertices.
pub struct Energy {
    pub vertices: Vec<u32>,
    pub value: Ad,
}

impl Twin<'_> {
    fn neighbours(&self, v: u32) -> Vec<u32> {
        let edges = self.mesh.edges.iter().filter(|e| e.contains(&v));
        edges.map(|e| if e[0] == v { e[1] } else { e[0] }).collect()
    }

    fn opposite(&self, e: u32) -> Vec<u32> {
        let ends = self.mesh.edges[e as usize];
        let faces = self.mesh.faces.iter().filter(|f| ends.iter().all(|v| f.contains(v)));
        faces.map(|f| *f.iter().find(|v| !ends.contains(v)).unwrap()).collect()
    }

    fn sides(pair: &Pair) -> [Element; 2] {
        use Element::*;
        let [a, b] = pair.elements;
        match pair.kind {
            PairKind::VertexVertex => [Vertex(a), Vertex(b)],
            PairKind::EdgeVertex => [Edge(a), Vertex(b)],
            PairKind::EdgeEdge => [Edge(a), Edge(b)],
            PairKind::FaceVertex => [Face(a), Vertex(b)],
        }
    }

    fn vertices(&self, element: &Element) -> Vec<u32> {
        match element {
            Element::Vertex(v) => [vec![*v], self.neighbours(*v)].concat(),
            Element::Edge(e) => [self.mesh.edges[*e as usize].to_vec(), self.opposite(*e)].concat(),
            Element::Face(f) => self.mesh.faces[*f as usize].to_vec(),
        }
    }

    /// The energy per κ, with derivatives by all vertices around both elements.
    pub fn energy(&self, pair: &Pair) -> Energy {
        let sides = Self::sides(pair);
        let mut vertices = [self.vertices(&sides[0]), self.vertices(&sides[1])].concat();
        vertices.sort_unstable();
        vertices.dedup();
        let n = 3 * vertices.len();
        let at = |v: u32| -> V {
            let i = vertices.iter().position(|&w| w == v).unwrap();
            std::array::from_fn(|k| Ad::variable(self.x[v as usize][k], 3 * i + k, n))
        };
        let value = self.value(pair, &sides, &at);
        Energy { vertices, value }
    }

    fn value(&self, pair: &Pair, sides: &[Element; 2], at: &dyn Fn(u32) -> V) -> Ad {
        let [a, b] = pair.elements;
        let ends = |e: u32| self.mesh.edges[e as usize].map(at);
        let corners = |f: u32| self.mesh.faces[f as usize].map(at);
        let q = match pair.kind {
            PairKind::VertexVertex => sub(&at(b), &at(a)),
            PairKind::EdgeVertex => {
                let [e0, e1] = ends(a);
                across(&sub(&e1, &e0), &sub(&at(b), &e0))
            }
            PairKind::EdgeEdge => {
                let ([a0, a1], [b0, b1]) = (ends(a), ends(b));
                along(&cross(&sub(&a1, &a0), &sub(&b1, &b0)), &sub(&b0, &a0))
            }
            PairKind::FaceVertex => {
                let [t0, t1, t2] = corners(a);
                along(&cross(&sub(&t1, &t0), &sub(&t2, &t0)), &sub(&at(b), &t0))
            }
        };
        let d2 = dot(&q, &q);
        let argument = |border: Ad| &(&border - &d2) * &d2.times(1e-2).recip();
        let square = |v: &V| dot(v, v);
        let borders: Vec<Ad> = match pair.kind {
            PairKind::VertexVertex => vec![],
            PairKind::EdgeVertex => ends(a).iter().map(|e| square(&sub(&at(b), e))).collect(),
            PairKind::EdgeEdge => {
                let (x, y) = (ends(a), ends(b));
                let to = |p: &V, e: &[V; 2]| segment_d2(p, &e[0], &e[1]);
                vec![to(&x[0], &y), to(&x[1], &y), to(&y[0], &x), to(&y[1], &x)]
            }
            PairKind::FaceVertex => {
                let (t, p) = (corners(a), at(b));
                let line =
                    |i: usize, j: usize| square(&across(&sub(&t[j], &t[i]), &sub(&p, &t[i])));
                vec![line(0, 1), line(1, 2), line(2, 0)]
            }
        };
        let z = &d2.sqrt() - &d2.like(pair.thickness);
        let mut value = kernel(&z, pair.epsilon, self.parameters.exponent).times(pair.weight);
        for border in borders {
            value = &value * &mollify(&argument(border));
        }
        let out = unit(&q);
        let back = scale(&out, &d2.like(-1.0));
        for (element, u) in sides.iter().zip([out, back]) {
            value = &value * &self.gamma(element, &u, at);
            if self.parameters.measure == Measure::Current {
                value = &value * &self.measure(element, at);
            }
        }
        value
    }

    fn normal(&self, f: &[u32; 3], at: &dyn Fn(u32) -> V) -> V {
        let [a, b, c] = f.map(at);
        unit(&cross(&sub(&b, &a), &sub(&c, &a)))
    }

    fn gamma(&self, element: &Element, u: &V, at: &dyn Fn(u32) -> V) -> Ad {
        let (tangents, faces, first): (Vec<V>, Vec<&[u32; 3]>, u32) = match element {
            Element::Vertex(v) => {
                let spokes = self.neighbours(*v);
                let faces = self.mesh.faces.iter().filter(|f| f.contains(v)).collect();
                (spokes.iter().map(|&w| sub(&at(w), &at(*v))).collect(), faces, *v)
            }
            Element::Edge(e) => {
                let ends = self.mesh.edges[*e as usize];
                let line = sub(&at(ends[1]), &at(ends[0]));
                let tangent = |&w: &u32| across(&line, &sub(&at(w), &at(ends[0])));
                let on = |f: &&[u32; 3]| ends.iter().all(|v| f.contains(v));
                let faces = self.mesh.faces.iter().filter(on).collect();
                (self.opposite(*e).iter().map(tangent).collect(), faces, ends[0])
            }
            Element::Face(f) => {
                let t = &self.mesh.faces[*f as usize];
                let outside = dot(&self.normal(t, at), u).v > 0.0;
                let counts = self.surface.oriented[t[0] as usize];
                return u[0].like(f64::from(outside || !counts));
            }
        };
        let mut gamma = u[0].like(1.0);
        for t in &tangents {
            let phi = dot(u, &unit(t)).times(-1.0);
            gamma = &gamma * &step(&phi, &self.parameters.tangential);
        }
        if !self.surface.oriented[first as usize] || faces.is_empty() {
            return gamma;
        }
        let mut sum = u[0].like(-1.0);
        for f in faces {
            sum = &sum + &step(&dot(u, &self.normal(f, at)), &self.parameters.normal);
        }
        &gamma * &heaviside(&sum.times(3.0))
    }

    fn measure(&self, element: &Element, at: &dyn Fn(u32) -> V) -> Ad {
        let square = |a: u32, b: u32| {
            let t = sub(&at(a), &at(b));
            dot(&t, &t)
        };
        match element {
            Element::Vertex(v) => {
                let ring = self.neighbours(*v);
                let sum = ring.iter().fold(at(*v)[0].like(0.0), |sum, &w| &sum + &square(w, *v));
                sum.times(1.0 / 3.0)
            }
            Element::Edge(e) => {
                let [a, b] = self.mesh.edges[*e as usize];
                square(a, b)
            }
            Element::Face(f) => {
                let [a, b, c] = self.mesh.faces[*f as usize].map(at);
                let n = cross(&sub(&b, &a), &sub(&c, &a));
                dot(&n, &n).sqrt().times(0.5)
            }
        }
    }
}
