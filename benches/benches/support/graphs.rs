//! Patterns of Newton matrices by which orderings and partitions are compared: solids, sheets, rods and heaps of them.

use standoff_sparse::BlockPattern;
use standoff_testkit::Random;

/// Stencils of the elements and contacts of a scene.
#[derive(Default)]
struct Scene {
    vertices: u32,
    pairs: Vec<(u32, u32)>,
}

impl Scene {
    fn couple(&mut self, stencil: &[u32]) {
        self.pairs.extend(BlockPattern::stencil_pairs([stencil]));
    }

    /// A block of cells, six tetrahedra each, of which those inside are kept; the numbers of its lattice points.
    fn solid(&mut self, size: [u32; 3], inside: impl Fn([f64; 3]) -> bool) -> Vec<u32> {
        let points = size.map(|s| s + 1);
        let place = |c: [u32; 3]| ((c[2] * points[1] + c[1]) * points[0] + c[0]) as usize;
        let mut number = vec![u32::MAX; (points[0] * points[1] * points[2]) as usize];
        const PATHS: [[usize; 3]; 6] =
            [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
        for cell in 0..size[0] * size[1] * size[2] {
            let c = [cell % size[0], cell / size[0] % size[1], cell / size[0] / size[1]];
            let centre =
                [0, 1, 2].map(|k| (f64::from(c[k]) + 0.5) / f64::from(size[k]) * 2.0 - 1.0);
            if !inside(centre) {
                continue;
            }
            for path in PATHS {
                let mut corner = c;
                let mut tet = [place(corner); 4];
                for (k, axis) in path.into_iter().enumerate() {
                    corner[axis] += 1;
                    tet[k + 1] = place(corner);
                }
                let tet = tet.map(|p| {
                    if number[p] == u32::MAX {
                        number[p] = self.vertices;
                        self.vertices += 1;
                    }
                    number[p]
                });
                self.couple(&tet);
            }
        }
        number
    }

    /// A sheet with a stencil per hinge, closed to a ring along its length or not; its first vertex.
    fn sheet(&mut self, [length, width]: [u32; 2], ring: bool) -> u32 {
        let first = self.vertices;
        self.vertices += length * width;
        let last = if ring { 2 * length } else { length };
        for x in 0..length {
            for y in 0..width {
                for corners in [
                    [[x, y], [x + 1, y], [x, y + 1], [x + 1, y + 1]],
                    [[x + 1, y], [x + 1, y + 1], [x, y + 1], [x + 2, y]],
                    [[x, y + 1], [x + 1, y + 1], [x + 1, y], [x, y + 2]],
                ] {
                    if corners.iter().all(|c| c[0] < last && c[1] < width) {
                        self.couple(&corners.map(|[x, y]| first + width * (x % length) + y));
                    }
                }
            }
        }
        first
    }

    /// A rod with bending, closed to a ring or not; its first vertex.
    fn rod(&mut self, length: u32, ring: bool) -> u32 {
        let first = self.vertices;
        self.vertices += length;
        for k in 0..if ring { length } else { length - 2 } {
            self.couple(&[k, k + 1, k + 2].map(|k| first + k % length));
        }
        first
    }

    fn pattern(self) -> BlockPattern {
        BlockPattern::from_pairs(self.vertices as usize, &self.pairs).expect("vertices exist")
    }
}

fn radius(c: [f64; 3]) -> f64 {
    c.iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn solid(size: [u32; 3], inside: impl Fn([f64; 3]) -> bool) -> BlockPattern {
    let mut scene = Scene::default();
    scene.solid(size, inside);
    scene.pattern()
}

fn sheet(size: [u32; 2], ring: bool) -> BlockPattern {
    let mut scene = Scene::default();
    scene.sheet(size, ring);
    scene.pattern()
}

/// Cloths on each other, every vertex of one in contact with an edge or a triangle of the next, in places.
fn cloths(count: u32, side: u32) -> BlockPattern {
    let mut scene = Scene::default();
    let mut random = Random::new(5);
    let mut below = None;
    for _ in 0..count {
        let first = scene.sheet([side, side], false);
        for v in (0..side * side).filter(|v| v % side > 1 && v / side > 1) {
            if let Some(below) = below.filter(|_| random.unit() < 0.7) {
                scene.couple(&[first + v, below + v, below + v - 1, below + v - side]);
            }
        }
        below = Some(first);
    }
    scene.pattern()
}

/// A sheet folded three times along its length, with contacts between the layers.
fn folded(length: u32, width: u32) -> BlockPattern {
    let mut scene = Scene::default();
    scene.sheet([length, width], false);
    let fold = length / 4;
    for x in fold..length {
        // a layer runs back over the one before
        let under = 2 * (x / fold * fold) - 1 - x;
        for y in 1..width {
            let u = width * under + y;
            scene.couple(&[width * x + y, u, u - 1, u + width]);
        }
    }
    scene.pattern()
}

/// Rods beside each other, in contact here and there.
fn bundle(count: u32, length: u32, contacts: u32, ring: bool) -> BlockPattern {
    let mut scene = Scene::default();
    let mut random = Random::new(9);
    for _ in 0..count {
        scene.rod(length, ring);
    }
    for _ in 0..contacts {
        let rod = (random.unit() * f64::from(count - 1)) as u32;
        let at = (random.unit() * f64::from(length - 1)) as u32;
        let v = rod * length + at;
        scene.couple(&[v, v + 1, v + length, v + length + 1]);
    }
    scene.pattern()
}

/// Cubes in a heap, each touching the next ones along three axes, or none.
fn cubes(count: u32, side: u32, touch: bool) -> BlockPattern {
    let mut scene = Scene::default();
    let mut all = Vec::new();
    for _ in 0..count * count * count {
        all.push(scene.solid([side; 3], |_| true));
    }
    let points = side + 1;
    let at = |c: [u32; 3]| ((c[2] * points + c[1]) * points + c[0]) as usize;
    let steps = [1, count, count * count];
    for k in 0..if touch { all.len() as u32 } else { 0 } {
        for (axis, step) in steps.into_iter().enumerate() {
            if k / step % count + 1 == count {
                continue;
            }
            let other = (k + step) as usize;
            for f in 0..side * side {
                let mut near = [f % side, f % side, f % side];
                near[(axis + 1) % 3] = f / side;
                let mut far = near;
                (near[axis], far[axis]) = (side, 0);
                let mut beside = far;
                beside[(axis + 1) % 3] += 1;
                let own = all[k as usize][at(near)];
                scene.couple(&[own, all[other][at(far)], all[other][at(beside)]]);
            }
        }
    }
    scene.pattern()
}

/// Grains at random places, coupled to those that are close.
fn grains(count: u32) -> BlockPattern {
    let mut random = Random::new(3);
    let side = f64::from(count).cbrt();
    let x: Vec<[f64; 3]> =
        (0..count).map(|_| std::array::from_fn(|_| random.unit() * side)).collect();
    let cells = side.ceil() as usize;
    let mut bins = vec![Vec::new(); cells * cells * cells];
    let cell = |x: &[f64; 3]| x.map(|c| (c as usize).min(cells - 1));
    for (v, x) in x.iter().enumerate() {
        let [i, j, k] = cell(x);
        bins[(k * cells + j) * cells + i].push(v);
    }
    let mut scene = Scene { vertices: count, pairs: Vec::new() };
    for (v, y) in x.iter().enumerate() {
        let [i, j, k] = cell(y);
        for bin in 0..27 {
            let [a, b, c] = [i + bin % 3, j + bin / 3 % 3, k + bin / 9];
            if [a, b, c].iter().all(|c| (1..=cells).contains(c)) {
                for &u in &bins[((c - 1) * cells + b - 1) * cells + a - 1] {
                    let distance: f64 = (0..3).map(|m| (x[u][m] - y[m]).powi(2)).sum();
                    if u < v && distance < 1.0 {
                        scene.couple(&[u as u32, v as u32]);
                    }
                }
            }
        }
    }
    scene.pattern()
}

/// The patterns and their names.
pub fn all() -> Vec<(&'static str, BlockPattern)> {
    vec![
        ("block 14³", solid([14; 3], |_| true)),
        ("block 25³", solid([25; 3], |_| true)),
        ("block 45³", solid([45; 3], |_| true)),
        ("beam 120 × 12 × 12", solid([120, 12, 12], |_| true)),
        ("mat 200 × 100 × 3", solid([200, 100, 3], |_| true)),
        ("ball of 30", solid([30; 3], |c| radius(c) < 1.0)),
        ("hollow ball of 40", solid([40; 3], |c| (0.8..1.0).contains(&radius(c)))),
        ("cloth 60 × 60", sheet([60, 60], false)),
        ("cloth 300 × 300", sheet([300, 300], false)),
        ("strip 2000 × 20", sheet([2000, 20], false)),
        ("tube 200 × 100", sheet([200, 100], true)),
        ("10 cloths 50 × 50 in contact", cloths(10, 50)),
        ("folded cloth 240 × 60", folded(240, 60)),
        ("rod of 20000", bundle(1, 20000, 0, false)),
        ("rods 100 × 200, few contacts", bundle(100, 200, 1000, false)),
        ("rods 100 × 200, many contacts", bundle(100, 200, 8000, false)),
        ("rings 1000 × 40 in contact", bundle(1000, 40, 5000, true)),
        ("27 cubes of 8³ apart", cubes(3, 8, false)),
        ("27 cubes of 8³ in contact", cubes(3, 8, true)),
        ("grains 20000", grains(20000)),
    ]
}
