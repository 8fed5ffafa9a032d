//! Isosurface stuffing [Labelle 2007]: lattice points near the surface are moved onto it, the
//! tetrahedra that it still crosses are cut, and their angles stay bounded whatever the surface is.

use crate::error::FillError;
use crate::lattice::Lattice;
use crate::surface::Surface;
use crate::tree::Tree;
use standoff_linalg::Vec3;
use std::collections::HashMap;

/// A cut point within this part of a long edge from its end moves the end there [Labelle 2007, Table 1].
const ALPHA_LONG: f64 = 0.24999;
/// The same of short edges.
const ALPHA_SHORT: f64 = 0.41189;

/// Tetrahedra that fill a surface.
#[derive(Debug, Clone, Default)]
pub struct Stuffed {
    /// Positions, m.
    pub points: Vec<Vec3>,
    /// Positive tetrahedra.
    pub tets: Vec<[u32; 4]>,
    /// Whether a vertex was put onto the surface.
    pub on_surface: Vec<bool>,
    /// Whether the surface winds around a point more than once: its parts overlap.
    pub overlaps: bool,
}

/// Where the surface crosses an edge of the lattice.
#[derive(Debug, Clone, Copy)]
struct Cut {
    ends: [u32; 2],
    point: Vec3,
    /// Whether the edge joins two corners or two centres.
    long: bool,
}

/// Fills a surface with tetrahedra of long edges `a` (m).
///
/// # Errors
/// There are too many of them.
pub fn stuff(surface: &Surface, tree: &Tree, a: f64) -> Result<Stuffed, FillError> {
    let lattice = Lattice::around(surface, a)?;
    let windings = lattice.windings(surface);
    let overlaps = windings.iter().any(|w| w.abs() > 1);
    let mut cuts = Vec::new();
    lattice.for_each_edge(|u, v| {
        let inside = [u, v].map(|p| windings[p as usize] != 0);
        if inside[0] != inside[1] {
            let (from, to) = if inside[0] { (u, v) } else { (v, u) };
            let point = cut_point(tree, &lattice.position(from), &lattice.position(to));
            let long = lattice.is_centre(u) == lattice.is_centre(v);
            cuts.push(Cut { ends: [u, v], point, long });
        }
    });
    let warped = warp(&lattice, &cuts);
    let cutter = Cutter { lattice: &lattice, windings: &windings, cuts: &cuts, warped: &warped };
    Ok(Stuffed { overlaps, ..cutter.cut() })
}

/// The first place where the segment leaves the surface.
fn cut_point(tree: &Tree, inside: &Vec3, outside: &Vec3) -> Vec3 {
    if let Some(t) = tree.crossings(inside, outside).first() {
        return inside + (outside - inside) * *t;
    }
    // where rounding hides the crossing, the point of the segment nearest to the surface
    const SAMPLES: u32 = 64;
    let sample = |k: u32| inside + (outside - inside) * (f64::from(k) / f64::from(SAMPLES));
    let d2 = |p: &Vec3| tree.closest(p, f64::INFINITY).map_or(f64::INFINITY, |h| h.d2);
    let best = (0..=SAMPLES).min_by(|a, b| d2(&sample(*a)).total_cmp(&d2(&sample(*b))));
    sample(best.unwrap_or(SAMPLES / 2))
}

/// Moves every point that a cut is too near to onto the nearest such cut; where it comes to.
fn warp(lattice: &Lattice, cuts: &[Cut]) -> HashMap<u32, Vec3> {
    let mut at: Vec<(u32, u32)> = Vec::with_capacity(2 * cuts.len());
    for (k, cut) in cuts.iter().enumerate() {
        at.extend(cut.ends.map(|end| (end, k as u32)));
    }
    at.sort_unstable();
    let mut warped: HashMap<u32, Vec3> = HashMap::new();
    for group in at.chunk_by(|a, b| a.0 == b.0) {
        let point = group[0].0;
        let position = lattice.position(point);
        let nearest = group
            .iter()
            .map(|(_, k)| &cuts[*k as usize])
            // an edge with an end on the surface is not crossed any more
            .filter(|cut| !cut.ends.iter().any(|end| warped.contains_key(end)))
            .map(|cut| ((cut.point - position).norm(), cut))
            .filter(|(distance, cut)| {
                let reach = if cut.long { ALPHA_LONG } else { ALPHA_SHORT * 0.75f64.sqrt() };
                *distance < reach * lattice.a
            })
            .min_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((_, cut)) = nearest {
            warped.insert(point, cut.point);
        }
    }
    warped
}

struct Cutter<'a> {
    lattice: &'a Lattice,
    windings: &'a [i16],
    cuts: &'a [Cut],
    /// Points on the surface.
    warped: &'a HashMap<u32, Vec3>,
}

/// A vertex: a point of the lattice, or the cut of that number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Vertex {
    Point(u32),
    Cut(u32),
}

impl Cutter<'_> {
    fn cut(&self) -> Stuffed {
        let of_edge: HashMap<[u32; 2], u32> = self
            .cuts
            .iter()
            .enumerate()
            .map(|(k, cut)| {
                ([cut.ends[0].min(cut.ends[1]), cut.ends[0].max(cut.ends[1])], k as u32)
            })
            .collect();
        let mut stuffed = Stuffed::default();
        let mut numbers: HashMap<Vertex, u32> = HashMap::new();
        self.lattice.for_each_tet(|tet| {
            let sides = tet.map(|p| self.side(p));
            if !sides.contains(&1) {
                return;
            }
            self.pieces(&tet, &sides, &of_edge, &mut |piece| {
                let piece = piece.map(|vertex| {
                    *numbers.entry(vertex).or_insert_with(|| {
                        let (position, on_surface) = self.place(vertex);
                        stuffed.points.push(position);
                        stuffed.on_surface.push(on_surface);
                        (stuffed.points.len() - 1) as u32
                    })
                });
                stuffed.tets.push(piece);
            });
        });
        stuffed
    }

    /// 1 inside, −1 outside, 0 on the surface.
    fn side(&self, point: u32) -> i8 {
        if self.warped.contains_key(&point) {
            0
        } else if self.windings[point as usize] != 0 {
            1
        } else {
            -1
        }
    }

    fn place(&self, vertex: Vertex) -> (Vec3, bool) {
        match vertex {
            Vertex::Cut(k) => (self.cuts[k as usize].point, true),
            Vertex::Point(p) => match self.warped.get(&p) {
                Some(position) => (*position, true),
                None => (self.lattice.position(p), false),
            },
        }
    }

    /// The tetrahedra that the part of `tet` inside is made of.
    // long: the table of cases
    fn pieces(
        &self,
        tet: &[u32; 4],
        sides: &[i8; 4],
        of_edge: &HashMap<[u32; 2], u32>,
        emit: &mut dyn FnMut([Vertex; 4]),
    ) {
        let whole = tet.map(Vertex::Point);
        let places = |side: i8| (0..4).filter(move |i| sides[*i] == side).collect::<Vec<usize>>();
        let (inside, outside) = (places(1), places(-1));
        let cut = |p: usize, n: usize| {
            let (a, b) = (tet[p], tet[n]);
            // both ends are off the surface and on different sides
            Vertex::Cut(of_edge[&[a.min(b), a.max(b)]])
        };
        // whether the face of p, q inside and n outside is split from p to the cut between q and n
        let from = |p: usize, q: usize, n: usize| {
            self.diagonal(tet[p], tet[q], tet[n], |v| cut(v, n), p, q)
        };
        let with = |changes: &[(usize, Vertex)]| {
            let mut piece = whole;
            for (place, vertex) in changes {
                piece[*place] = *vertex;
            }
            piece
        };
        match (&inside[..], &outside[..]) {
            (_, []) => emit(whole),
            (&[p], outside) => {
                let changes: Vec<_> = outside.iter().map(|&n| (n, cut(p, n))).collect();
                emit(with(&changes));
            }
            (&[p, q], &[n]) => {
                let (p, q) = if from(p, q, n) { (p, q) } else { (q, p) };
                emit(with(&[(n, cut(q, n))]));
                emit(with(&[(q, cut(q, n)), (n, cut(p, n))]));
            }
            (&[p, q, r], &[n]) => {
                // each of the three faces is split from one of its two vertices inside; sorted by how
                // many faces are split from a vertex, the pieces follow
                let splits =
                    |v: usize| [p, q, r].iter().filter(|w| **w != v && from(v, **w, n)).count();
                let mut order = [p, q, r];
                order.sort_by_key(|v| std::cmp::Reverse(splits(*v)));
                let [p, q, r] = order;
                emit(with(&[(n, cut(r, n))]));
                emit(with(&[(r, cut(r, n)), (n, cut(q, n))]));
                emit(with(&[(q, cut(q, n)), (r, cut(r, n)), (n, cut(p, n))]));
            }
            (&[p, q], &[m, n]) => self.wedge(tet, [p, q], [m, n], &cut, &from, emit),
            // with two vertices outside there are two others at most
            _ => {}
        }
    }

    /// Two vertices inside and two outside: a prism between the triangles (p, its cuts) and (q, its cuts).
    fn wedge(
        &self,
        tet: &[u32; 4],
        [p, q]: [usize; 2],
        [m, n]: [usize; 2],
        cut: &dyn Fn(usize, usize) -> Vertex,
        from: &dyn Fn(usize, usize, usize) -> bool,
        emit: &mut dyn FnMut([Vertex; 4]),
    ) {
        let top = [Vertex::Point(tet[p]), cut(p, m), cut(p, n)];
        let bottom = [Vertex::Point(tet[q]), cut(q, m), cut(q, n)];
        // which column's upper end a side is split from: columns are p–q, cuts towards m, towards n
        let (over_m, over_n) = (from(p, q, m), from(p, q, n));
        let shorter = {
            let length = |a: Vertex, b: Vertex| (self.place(a).0 - self.place(b).0).norm_squared();
            length(top[1], bottom[2]) <= length(top[2], bottom[1])
        };
        let order = match (over_m, over_n) {
            (true, true) if shorter => [0, 1, 2],
            (true, true) => [0, 2, 1],
            (false, false) if shorter => [1, 2, 0],
            (false, false) => [2, 1, 0],
            // the third side must not close a circle
            (true, false) => [2, 0, 1],
            (false, true) => [1, 0, 2],
        };
        let [a, b, c] = order;
        // (p, q, m, n) is an even or an odd permutation of the tetrahedron, and the order one of the columns
        let odd = |list: &[usize]| {
            let pairs = (0..list.len()).flat_map(|j| (0..j).map(move |i| (i, j)));
            pairs.filter(|(i, j)| list[*i] > list[*j]).count() % 2 == 1
        };
        let turned = odd(&[p, q, m, n]) != odd(&order);
        for mut piece in [
            [top[a], top[b], top[c], bottom[c]],
            [top[a], top[b], bottom[c], bottom[b]],
            [top[a], bottom[b], bottom[c], bottom[a]],
        ] {
            if turned {
                piece.swap(0, 1);
            }
            emit(piece);
        }
    }

    /// Whether the quadrangle that is left of a face (p, q inside, n outside) is split from p to the cut
    /// between q and n: to the cut of a long edge, else along the shorter diagonal. Both tetrahedra of the
    /// face decide alike.
    fn diagonal(
        &self,
        p: u32,
        q: u32,
        n: u32,
        cut: impl Fn(usize) -> Vertex,
        place_p: usize,
        place_q: usize,
    ) -> bool {
        let long = |v: u32| self.lattice.is_centre(v) == self.lattice.is_centre(n);
        match (long(p), long(q)) {
            (false, true) => true,
            (true, false) => false,
            _ => {
                let length = |v: u32, c: Vertex| {
                    (self.place(Vertex::Point(v)).0 - self.place(c).0).norm_squared()
                };
                let (from_p, from_q) = (length(p, cut(place_q)), length(q, cut(place_p)));
                from_p < from_q || (from_p == from_q && p < q)
            }
        }
    }
}
