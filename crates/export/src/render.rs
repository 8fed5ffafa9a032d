//! Pictures without a window: a software renderer with a depth buffer.
//!
//! One camera for all frames, which sees everything that is ever in sight; light from the camera's left above;
//! bodies in colours of their own, obstacles grey, wires and particles as lines and dots.

// long: camera, depth buffer and the four kinds of cells in one pass

use crate::{ExportError, ExportedBody, Sequence};
use standoff_linalg::Vec3;
use standoff_run::write_atomically;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// How pictures are made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Camera {
    /// Width and height, pixels.
    pub size: [u32; 2],
    /// From where the scene is seen: a direction from its middle, of any length. By default from the front, a
    /// little from the right and above; what lies in the plane z = 0 straight from the front.
    pub from: Option<Vec3>,
    /// Whether files that are there are replaced.
    pub force: bool,
}

impl Default for Camera {
    fn default() -> Self {
        Self { size: [1280, 720], from: None, force: false }
    }
}

/// A picture: rows from the top, red, green and blue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// Pixels along x.
    pub width: u32,
    /// Pixels along y.
    pub height: u32,
    /// Three bytes per pixel.
    pub pixels: Vec<u8>,
}

/// Vertical field of view, degrees.
const FIELD: f64 = 30.0;
/// Samples per pixel along x and y.
const SAMPLES: usize = 2;
const BACKGROUND: [f64; 3] = [1.0, 1.0, 1.0];

/// Draws every frame of a run and hands it over with its number.
///
/// # Errors
/// The run cannot be read, or what `take` says.
pub fn render<E: From<ExportError>>(
    sequence: &Sequence,
    camera: &Camera,
    take: &mut dyn FnMut(u64, Picture) -> Result<(), E>,
) -> Result<(), E> {
    let bodies = sequence.bodies();
    let frames = sequence.steps().len();
    let mut bounds: Option<(Vec3, Vec3)> = None;
    for frame in 0..frames {
        let positions = sequence.positions(frame, 0..bodies.len()).map_err(ExportError::from)?;
        // what moves decides; a floor far larger than that does not
        let moving: Vec<&Vec3> = of_interest(bodies, &positions).collect();
        for p in moving {
            let (low, high) = bounds.get_or_insert((*p, *p));
            (*low, *high) = (low.inf(p), high.sup(p));
        }
    }
    let (low, high) = bounds.unwrap_or_default();
    let view = View::new(camera, low, high, sequence.z_up());
    for frame in 0..frames {
        let positions = sequence.positions(frame, 0..bodies.len()).map_err(ExportError::from)?;
        take(sequence.steps()[frame], view.draw(bodies, &positions))?;
    }
    Ok(())
}

/// Positions of what is no obstacle; of everything, if there is nothing else.
fn of_interest<'a>(
    bodies: &'a [ExportedBody],
    positions: &'a [Vec<Vec3>],
) -> impl Iterator<Item = &'a Vec3> {
    let all = bodies.iter().all(|b| b.obstacle);
    let shown = bodies.iter().zip(positions).filter(move |(b, _)| all || !b.obstacle);
    shown.flat_map(|(_, x)| x)
}

/// Writes a picture for every frame: `000000.png`, …, in a folder that is made if it does not exist.
///
/// # Errors
/// The run cannot be read, or a file not be written.
pub fn render_folder(
    run: &Path,
    folder: &Path,
    camera: &Camera,
) -> Result<Vec<PathBuf>, ExportError> {
    let sequence = Sequence::open(run, false)?;
    let file = |step: u64| folder.join(format!("{step:06}.png"));
    if !camera.force
        && let Some(found) = sequence.steps().iter().map(|s| file(*s)).find(|f| f.exists())
    {
        return Err(ExportError::Exists(found));
    }
    std::fs::create_dir_all(folder)
        .map_err(|source| standoff_run::OutputError::Write { path: folder.to_owned(), source })?;
    let mut files = Vec::new();
    render(&sequence, camera, &mut |step, picture| -> Result<(), ExportError> {
        let path = file(step);
        write_atomically(&path, |out| picture.write_png(out))?;
        files.push(path);
        Ok(())
    })?;
    Ok(files)
}

impl Picture {
    /// Writes the picture as a PNG file.
    ///
    /// # Errors
    /// `out` cannot be written, or the size is not that of the pixels.
    pub fn write_png(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut encoder = png::Encoder::new(out, self.width, self.height);
        encoder.set_color(png::ColorType::Rgb);
        let mut png = encoder.write_header()?;
        png.write_image_data(&self.pixels)?;
        Ok(png.finish()?)
    }
}

/// A camera in place.
struct View {
    width: usize,
    height: usize,
    eye: Vec3,
    /// To the right, up and towards the viewer.
    axes: [Vec3; 3],
    /// Pixels (of samples) per unit of slope.
    focal: f64,
    near: f64,
}

impl View {
    fn new(camera: &Camera, low: Vec3, high: Vec3, z_up: bool) -> Self {
        let up = if z_up { Vec3::z() } else { Vec3::y() };
        let default = match (low.z == high.z, z_up) {
            // a scene of two dimensions
            (true, false) => Vec3::z(),
            (_, true) => Vec3::new(0.35, -1.0, 0.35),
            (false, false) => Vec3::new(0.35, 0.35, 1.0),
        };
        let back = camera.from.unwrap_or(default).try_normalize(0.0).unwrap_or(default.normalize());
        let right = up.cross(&back).try_normalize(1e-9).unwrap_or_else(Vec3::x);
        let axes = [right, back.cross(&right), back];
        let [width, height] = camera.size.map(|n| n as usize * SAMPLES);
        let focal = height as f64 / 2.0 / (FIELD / 2.0).to_radians().tan();
        // far enough for every corner of the box to be in sight, with a margin
        let middle = (low + high) / 2.0;
        let room = [width, height].map(|n| 0.92 * n as f64 / 2.0 / focal);
        let corner = |k: usize| {
            let pick = |c: usize| if k >> c & 1 == 1 { high[c] } else { low[c] };
            Vec3::new(pick(0), pick(1), pick(2)) - middle
        };
        let size = (high - low).norm().max(1e-9);
        let distance = (0..8)
            .flat_map(|k| {
                let d = corner(k);
                let along = axes[2].dot(&d);
                [0, 1].map(|a| axes[a].dot(&d).abs() / room[a] + along)
            })
            .fold(0.6 * size, f64::max);
        let near = 0.01 * distance;
        Self { width, height, eye: middle + back * distance, axes, focal, near }
    }

    /// Place on the picture and distance in front of the camera.
    fn project(&self, p: &Vec3) -> Option<[f64; 3]> {
        let d = p - self.eye;
        let depth = -self.axes[2].dot(&d);
        (depth > self.near).then(|| {
            let scale = self.focal / depth;
            let x = self.width as f64 / 2.0 + self.axes[0].dot(&d) * scale;
            let y = self.height as f64 / 2.0 - self.axes[1].dot(&d) * scale;
            [x, y, depth]
        })
    }

    fn draw(&self, bodies: &[ExportedBody], positions: &[Vec<Vec3>]) -> Picture {
        let mut canvas = Canvas::new(self.width, self.height);
        let light = (self.axes[2] + self.axes[1] * 0.8 - self.axes[0] * 0.5).normalize();
        for (k, (body, x)) in bodies.iter().zip(positions).enumerate() {
            let colour =
                if body.obstacle { [0.72, 0.72, 0.72] } else { COLOURS[k % COLOURS.len()] };
            for triangle in &body.triangles {
                let corners = triangle.map(|v| x[v as usize]);
                let normal = (corners[1] - corners[0]).cross(&(corners[2] - corners[0]));
                let Some(normal) = normal.try_normalize(0.0) else { continue };
                // either side of a sheet is lit
                let shade = 0.35 + 0.65 * normal.dot(&light).abs();
                let places = corners.map(|p| self.project(&p));
                if let [Some(a), Some(b), Some(c)] = places {
                    canvas.triangle([a, b, c], colour.map(|c| c * shade));
                }
            }
            for edge in &body.edges {
                let ends = edge.map(|v| self.project(&x[v as usize]));
                if let [Some(a), Some(b)] = ends {
                    canvas.line(a, b, 1.5 * SAMPLES as f64, colour.map(|c| 0.8 * c));
                }
            }
            for point in &body.points {
                if let Some(p) = self.project(&x[*point as usize]) {
                    canvas.dot(p, 2.5 * SAMPLES as f64, colour);
                }
            }
        }
        canvas.picture()
    }
}

/// Colours of bodies, by turns.
const COLOURS: [[f64; 3]; 8] = [
    [0.27, 0.55, 0.85],
    [0.95, 0.55, 0.20],
    [0.35, 0.70, 0.40],
    [0.85, 0.35, 0.40],
    [0.60, 0.45, 0.80],
    [0.90, 0.75, 0.25],
    [0.30, 0.72, 0.75],
    [0.85, 0.50, 0.70],
];

/// Samples with their distance from the camera.
struct Canvas {
    width: usize,
    height: usize,
    depth: Vec<f64>,
    colour: Vec<[f32; 3]>,
}

impl Canvas {
    fn new(width: usize, height: usize) -> Self {
        let background = BACKGROUND.map(|c| c as f32);
        let count = width * height;
        Self { width, height, depth: vec![f64::INFINITY; count], colour: vec![background; count] }
    }

    fn set(&mut self, x: usize, y: usize, depth: f64, colour: [f64; 3]) {
        let k = y * self.width + x;
        if depth < self.depth[k] {
            self.depth[k] = depth;
            self.colour[k] = colour.map(|c| c as f32);
        }
    }

    /// Columns and rows that a box on the picture covers.
    fn range(&self, low: [f64; 2], high: [f64; 2]) -> [std::ops::Range<usize>; 2] {
        let along = |k: usize, n: usize| {
            let first = low[k].floor().clamp(0.0, n as f64) as usize;
            let end = (high[k].ceil() + 1.0).clamp(0.0, n as f64) as usize;
            first..end
        };
        [along(0, self.width), along(1, self.height)]
    }

    fn triangle(&mut self, [a, b, c]: [[f64; 3]; 3], colour: [f64; 3]) {
        let area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
        if area == 0.0 {
            return;
        }
        let low = [0, 1].map(|k| a[k].min(b[k]).min(c[k]));
        let high = [0, 1].map(|k| a[k].max(b[k]).max(c[k]));
        let [columns, rows] = self.range(low, high);
        for y in rows {
            for x in columns.clone() {
                let p = [x as f64 + 0.5, y as f64 + 0.5];
                let side = |q: [f64; 3], r: [f64; 3]| {
                    ((r[0] - q[0]) * (p[1] - q[1]) - (r[1] - q[1]) * (p[0] - q[0])) / area
                };
                let (u, v, w) = (side(b, c), side(c, a), side(a, b));
                if u >= 0.0 && v >= 0.0 && w >= 0.0 {
                    // one over the distance is linear on the picture
                    let depth = 1.0 / (u / a[2] + v / b[2] + w / c[2]);
                    self.set(x, y, depth, colour);
                }
            }
        }
    }

    fn line(&mut self, a: [f64; 3], b: [f64; 3], width: f64, colour: [f64; 3]) {
        let length = (b[0] - a[0]).hypot(b[1] - a[1]);
        let steps = length.ceil().clamp(1.0, 1e5);
        for k in 0..=steps as usize {
            let t = k as f64 / steps;
            let at = |c: usize| a[c] + t * (b[c] - a[c]);
            self.dot([at(0), at(1), at(2)], width / 2.0, colour);
        }
    }

    fn dot(&mut self, p: [f64; 3], radius: f64, colour: [f64; 3]) {
        let [columns, rows] =
            self.range([p[0] - radius, p[1] - radius], [p[0] + radius, p[1] + radius]);
        for y in rows {
            for x in columns.clone() {
                if (x as f64 + 0.5 - p[0]).hypot(y as f64 + 0.5 - p[1]) <= radius {
                    self.set(x, y, p[2], colour);
                }
            }
        }
    }

    fn picture(&self) -> Picture {
        let (width, height) = (self.width / SAMPLES, self.height / SAMPLES);
        let mut pixels = Vec::with_capacity(3 * width * height);
        for y in 0..height {
            for x in 0..width {
                for c in 0..3 {
                    let mut sum = 0.0;
                    for dy in 0..SAMPLES {
                        for dx in 0..SAMPLES {
                            sum +=
                                self.colour[(y * SAMPLES + dy) * self.width + x * SAMPLES + dx][c];
                        }
                    }
                    let mean = f64::from(sum) / (SAMPLES * SAMPLES) as f64;
                    // screens show a power of the number
                    pixels.push((255.0 * mean.clamp(0.0, 1.0).powf(1.0 / 1.4)).round() as u8);
                }
            }
        }
        Picture { width: width as u32, height: height as u32, pixels }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(triangles: Vec<[u32; 3]>) -> ExportedBody {
        ExportedBody { name: "b".into(), triangles, ..ExportedBody::default() }
    }

    fn pixel(picture: &Picture, x: u32, y: u32) -> [u8; 3] {
        let k = 3 * (y * picture.width + x) as usize;
        [picture.pixels[k], picture.pixels[k + 1], picture.pixels[k + 2]]
    }

    #[test]
    fn the_nearer_one_covers_the_other() {
        let square = |z: f64| -> Vec<Vec3> {
            [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]]
                .map(|[x, y]| Vec3::new(x, y, z))
                .to_vec()
        };
        let faces = vec![[0, 1, 2], [0, 2, 3]];
        let bodies = [body(faces.clone()), body(faces)];
        let camera = Camera { size: [80, 60], from: Some(Vec3::z()), force: false };
        let (low, high) = (Vec3::new(-1.0, -1.0, -1.0), Vec3::new(1.0, 1.0, 1.0));
        let view = View::new(&camera, low, high, false);
        for (near, far, blue) in [(1.0, -1.0, true), (-1.0, 1.0, false)] {
            let picture = view.draw(&bodies, &[square(near), square(far)]);
            assert_eq!((picture.width, picture.height), (80, 60));
            let [red, _, b] = pixel(&picture, 40, 30);
            assert_eq!(b > red, blue);
            assert_eq!(pixel(&picture, 1, 1), [255; 3]);
        }
        // the box of the scene fills most of the height and stays inside
        let picture = view.draw(&bodies[..1], &[square(1.0)]);
        let rows = (0..60).filter(|y| pixel(&picture, 40, *y) != [255; 3]).count();
        assert!((50..60).contains(&rows), "{rows}");
    }

    #[test]
    fn scenes_of_two_dimensions_are_seen_straight_from_the_front() {
        let (low, high) = (Vec3::new(-1.0, -1.0, 0.0), Vec3::new(1.0, 1.0, 0.0));
        let camera = Camera { from: None, ..Camera::default() };
        assert_eq!(View::new(&camera, low, high, false).axes, [Vec3::x(), Vec3::y(), Vec3::z()]);
        let deep = Vec3::new(1.0, 1.0, 1.0);
        assert_ne!(View::new(&camera, low, deep, false).axes[2], Vec3::z());
    }

    #[test]
    fn pictures_are_png_files() {
        let picture = Picture { width: 2, height: 1, pixels: vec![255, 0, 0, 0, 0, 255] };
        let mut file = Vec::new();
        picture.write_png(&mut file).unwrap();
        let mut png = png::Decoder::new(io::Cursor::new(file)).read_info().unwrap();
        let mut pixels = vec![0; 6];
        let read = png.next_frame(&mut pixels).unwrap();
        assert_eq!((read.width, read.height, read.color_type), (2, 1, png::ColorType::Rgb));
        assert_eq!(pixels, picture.pixels);
    }
}
