//! The surfaces of a run through its frames.

use standoff_geometry::quadratic;
use standoff_linalg::Vec3;
use standoff_mesh::{Mesh, input};
use standoff_run::{Frame, OutputError, RunInfo, frame_files, read_frame, scene_file};
use standoff_scene::document::{Document, KeyPath, Value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What of a body is seen: triangles, and wires and points that no triangle has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExportedBody {
    /// Name in the scene.
    pub name: String,
    /// Whether it is an obstacle.
    pub obstacle: bool,
    /// Whether it is a rigid body.
    pub rigid: bool,
    /// Its vertices in the frames, or in those of the carried surfaces.
    pub vertices: Vec<u32>,
    /// Whether a carried surface stands for it.
    pub carried: bool,
    /// Triangles, outwards, by index into `vertices`.
    pub triangles: Vec<[u32; 3]>,
    /// Wires and segments of rods, by index into `vertices`.
    pub edges: Vec<[u32; 2]>,
    /// Particles and bare points, by index into `vertices`.
    pub points: Vec<u32>,
}

/// A run that is read frame by frame.
#[derive(Debug)]
pub struct Sequence {
    bodies: Vec<ExportedBody>,
    frames: Vec<PathBuf>,
    carried: Option<Vec<PathBuf>>,
    steps: Vec<u64>,
    times: Vec<f64>,
    z_up: bool,
}

impl Sequence {
    /// Opens the run in a folder. Bodies that carry a surface are seen as that, unless `tetrahedra` asks for
    /// the boundary of their elements.
    ///
    /// # Errors
    /// The folder holds no run, or a file of it cannot be read.
    pub fn open(folder: &Path, tetrahedra: bool) -> Result<Self, OutputError> {
        let info = RunInfo::read(folder)?;
        let (steps, frames): (Vec<u64>, Vec<PathBuf>) = frame_files(folder)?.into_iter().unzip();
        let first = read_frame(&frames[0])?;
        let mut bodies: Vec<ExportedBody> = info
            .bodies
            .iter()
            .map(|b| ExportedBody {
                name: b.name.clone(),
                obstacle: b.obstacle,
                rigid: b.rigid,
                ..ExportedBody::default()
            })
            .collect();
        fill_in(&mut bodies, &first, tetrahedra).map_err(|what| damaged(&frames[0], what))?;
        let mut carried = None;
        let files: Vec<PathBuf> =
            steps.iter().map(|s| folder.join("carried").join(format!("{s:06}.vtu"))).collect();
        if !tetrahedra && files[0].exists() {
            let surfaces = read_frame(&files[0])?;
            let mut fine: Vec<ExportedBody> = bodies
                .iter()
                .map(|b| ExportedBody {
                    name: b.name.clone(),
                    obstacle: b.obstacle,
                    rigid: b.rigid,
                    ..ExportedBody::default()
                })
                .collect();
            fill_in(&mut fine, &surfaces, false).map_err(|what| damaged(&files[0], what))?;
            for (body, fine) in bodies.iter_mut().zip(fine) {
                if !fine.triangles.is_empty() {
                    *body = ExportedBody { carried: true, ..fine };
                }
            }
            carried = Some(files);
        }
        bodies.retain(|b| !b.vertices.is_empty());
        let mut times = vec![first.time];
        for frame in &frames[1..] {
            times.push(read_frame(frame)?.time);
        }
        let z_up = gravity(folder).is_some_and(|g| g[2].abs() > g[1].abs().max(g[0].abs()));
        Ok(Self { bodies, frames, carried, steps, times, z_up })
    }

    /// The bodies that have something to be seen, in the order of the scene.
    pub fn bodies(&self) -> &[ExportedBody] {
        &self.bodies
    }

    /// Steps of the frames.
    pub fn steps(&self) -> &[u64] {
        &self.steps
    }

    /// Times of the frames, s.
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// Whether gravity acts along z, so that z is taken for up; else y is.
    pub fn z_up(&self) -> bool {
        self.z_up
    }

    /// Positions of the vertices of the bodies in `range` in a frame, m.
    ///
    /// # Errors
    /// The frame cannot be read or has other cells than the first one.
    pub fn positions(
        &self,
        frame: usize,
        range: std::ops::Range<usize>,
    ) -> Result<Vec<Vec<Vec3>>, OutputError> {
        let wanted = &self.bodies[range];
        let read = |files: &[PathBuf], carried: bool| -> Result<Vec<Vec3>, OutputError> {
            match wanted.iter().any(|b| b.carried == carried) {
                true => Ok(read_frame(&files[frame])?.positions),
                false => Ok(Vec::new()),
            }
        };
        let coarse = read(&self.frames, false)?;
        let fine = match &self.carried {
            Some(files) => read(files, true)?,
            None => Vec::new(),
        };
        let place = |body: &ExportedBody| {
            let (positions, file) = match (body.carried, &self.carried) {
                (true, Some(files)) => (&fine, &files[frame]),
                _ => (&coarse, &self.frames[frame]),
            };
            let position = |v: &u32| positions.get(*v as usize).copied();
            let all: Option<Vec<Vec3>> = body.vertices.iter().map(position).collect();
            all.ok_or_else(|| damaged(file, "it has fewer points than the first frame".into()))
        };
        wanted.iter().map(place).collect()
    }
}

fn damaged(path: &Path, what: String) -> OutputError {
    OutputError::Damaged { path: path.to_owned(), what }
}

/// Gives every body its cells of a frame: of a solid the surface that it carries, or the boundary of its `tetrahedra` where it carries none, or where
/// the caller wants these.
fn fill_in(bodies: &mut [ExportedBody], frame: &Frame, tetrahedra: bool) -> Result<(), String> {
    let mut of_cell = frame.cell_body.iter();
    let mut tets: Vec<Vec<[u32; 4]>> = vec![Vec::new(); bodies.len()];
    let mut owner = || {
        let body = of_cell.next().map(|b| *b as usize).filter(|b| *b < bodies.len());
        body.ok_or_else(|| "a cell belongs to a body that run.json does not list".to_owned())
    };
    let mut cells: Vec<(Vec<[u32; 3]>, Vec<[u32; 2]>, Vec<u32>)> = Vec::new();
    cells.resize(tets.len(), Default::default());
    for tet in &frame.tets {
        tets[owner()?].push(*tet);
    }
    let mut curved: Vec<Vec<[u32; 10]>> = vec![Vec::new(); tets.len()];
    for element in &frame.quadratic {
        curved[owner()?].push(*element);
    }
    for triangle in &frame.triangles {
        cells[owner()?].0.push(*triangle);
    }
    for nodes in &frame.quadratic_triangles {
        cells[owner()?].0.extend(quadratic::four_triangles(*nodes));
    }
    for edge in &frame.edges {
        cells[owner()?].1.push(*edge);
    }
    for point in &frame.points {
        cells[owner()?].2.push(*point);
    }
    let solids = tets.into_iter().zip(curved);
    for ((body, (tets, curved)), (mut triangles, edges, points)) in
        bodies.iter_mut().zip(solids).zip(cells)
    {
        if triangles.is_empty() || tetrahedra && !tets.is_empty() {
            triangles = Mesh { tets, ..Mesh::default() }.surface();
            let curved = quadratic::boundary_of(&curved).map_err(|e| e.to_string())?;
            triangles.extend(curved);
        }
        let all = triangles.iter().flatten().chain(edges.iter().flatten()).chain(&points);
        let mut numbers: BTreeMap<u32, u32> = all.map(|v| (*v, 0)).collect();
        for (k, number) in numbers.values_mut().enumerate() {
            *number = k as u32;
        }
        body.vertices = numbers.keys().copied().collect();
        body.triangles = triangles.iter().map(|t| t.map(|v| numbers[&v])).collect();
        body.edges = edges.iter().map(|e| e.map(|v| numbers[&v])).collect();
        body.points = points.iter().map(|v| numbers[v]).collect();
    }
    Ok(())
}

/// Gravity of the scene of a run, as far as it can be read.
fn gravity(folder: &Path) -> Option<[f64; 3]> {
    let path = scene_file(folder);
    let text = input::text(&path, input::MOST_TEXT).ok()?;
    let document = Document::parse(&path, &text).ok()?;
    let Value::Array(items) = &document.find(&KeyPath::default().key("gravity"))?.value else {
        return None;
    };
    let number = |k: usize| match &items.get(k)?.value {
        Value::Float(x) => Some(*x),
        Value::Integer(i) => Some(*i as f64),
        _ => None,
    };
    Some([number(0)?, number(1)?, number(2)?])
}
