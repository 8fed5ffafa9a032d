//! Mesh files: one module per format, joined by [`Format`].
//!
//! Adding a format is one file with a `read` function, one variant of [`Format`] and its lines in
//! the `match`es below. Readers keep the vertex order of the file, accept any bytes without
//! panicking or allocating more than in proportion to the file, and say the line (or the byte,
//! in binary parts) where a file is wrong.
//!
//! | format | read | not read |
//! |---|---|---|
//! | Gmsh `.msh` 2.x, 4.1 | text and binary of either byte order; points, lines, triangles, quadrangles, tetrahedra, hexahedra, prisms and pyramids of order 1 or 2, as triangles and tetrahedra; physical groups as regions | other orders: error; unknown sections (`$Surface`, `$NodeData`, …): skipped |
//! | VTK legacy `.vtk` | text and binary; `UNSTRUCTURED_GRID`, `POLYDATA`; points, lines, triangles, quadrangles, tetrahedra, hexahedra, wedges and pyramids of order 1 or 2, voxels, strips, polygons, as triangles and tetrahedra; integer cell data as regions | other orders and volume cells: error; other data sets: error |
//! | VTK XML `.vtu`, `.vtp` | text, base64 and raw appended data, zlib; same cells; integer cell data as regions | lz4 and lzma compression: error |
//! | Wavefront `.obj` | `v`, `f` (polygons as triangles), `l`, `p`, negative indices; only `v` lines: a cloud of points | texture coordinates, normals, groups, materials: skipped; free-form surfaces: error |
//! | `.ply` | text and binary of either byte order; faces as triangles, edges; no faces: a cloud of points | other elements and properties: skipped |
//! | `.stl` | text and binary; equal vertices are joined | normals, colours: skipped |
//! | `.seg` | `v x y z`, `s i j` | anything else: error |
//! | `.csv` | x, y, z per line, after an optional line of names: a cloud of points | further columns: left out, with a note |
//! | glTF 2.0 `.glb`, `.gltf` | the default scene with its transforms: triangles, strips, fans, lines, points; embedded buffers and files; sparse and quantized data; nodes as regions | compressed data: error; skins, morph targets: ignored, with a note |
//! | USD `.usda`, `.usdc`, `.usdz` | meshes (polygons as triangles), linear curves, points of one layer at `startTimeCode`, [over time](animation), with transforms and `metersPerUnit`; prims as regions | references, variants: error; subdivision: control meshes, with a note |
//! | Medit `.mesh` | text; edges, triangles, quadrangles, tetrahedra, hexahedra, prisms, pyramids of order 1, and edges, triangles, tetrahedra of order 2; references as regions | corners, ridges, normals and the like: skipped; other sections: error |
//! | TetGen `.ele`, `.node`, with `.face` and `.edge` beside them | tetrahedra and triangles of order 1 or 2, edges; attributes and boundary markers as regions | markers and attributes of nodes: skipped |
//! | Nastran `.bdf`, `.nas`, `.fem`, `.dat` | bulk data in all three field formats: points in the basic system, tetrahedra, pyramids, wedges, hexahedra, triangles, quadrangles of order 1 or 2, rods, bars and beams; properties as regions | other coordinate systems, `INCLUDE`: error; other cards: left out, with a note |
//! | URDF `.urdf`, MJCF `.xml` | the collision geometry of a robot, joints at zero; geometries as regions | planes, height fields, flexible bodies: left out, with a note |
//! | `.pt` | OBJ syntax, every vertex a bare point | faces and lines: skipped |

mod affine;
mod base64;
mod cells;
mod convert;
mod csv;
mod fortran;
mod gltf;
mod gmsh;
mod labels;
mod medit;
mod middles;
mod nastran;
mod obj;
mod parts;
mod ply;
mod polygon;
mod robot;
mod scan;
mod seg;
mod solids;
mod stl;
mod tetgen;
mod usd;
mod vtk;
mod vtu;
mod xml;

pub use robot::{
    Drive, Flex, Hinge, HingeKind, Link, Machine, Matter, MujocoModel, Plane, RobotOptions, STILL,
    Spring, Tendon, read_machine, read_model,
};
pub use usd::Animation;

use crate::input::{self, MOST_DATA};
use crate::{Mesh, MeshError};
use std::path::Path;

/// A mesh file format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// Gmsh `.msh`, versions 2.x and 4.1.
    Gmsh,
    /// Legacy VTK `.vtk`.
    Vtk,
    /// VTK XML `.vtu` (unstructured grid) or `.vtp` (polygonal data).
    Vtu,
    /// Wavefront `.obj`.
    Obj,
    /// Polygon file `.ply`.
    Ply,
    /// Stereolithography `.stl`.
    Stl,
    /// Segments `.seg` of the IPC 2020 reference.
    Seg,
    /// Points `.pt` of the IPC 2020 reference.
    Pt,
    /// Points `.csv`.
    Csv,
    /// glTF 2.0 `.glb`, `.gltf`.
    Gltf,
    /// USD as text `.usda`.
    Usd,
    /// Robots `.urdf`.
    Urdf,
    /// Models of MuJoCo `.xml`.
    Mjcf,
    /// Medit `.mesh`, text.
    Medit,
    /// TetGen `.node`, `.ele`, with the files beside it.
    TetGen,
    /// Bulk data of Nastran `.bdf`, `.nas`, `.fem`, and `.dat` where it looks like it.
    Nastran,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 16] = [
        Format::Gmsh,
        Format::Vtk,
        Format::Vtu,
        Format::Obj,
        Format::Ply,
        Format::Stl,
        Format::Seg,
        Format::Pt,
        Format::Csv,
        Format::Gltf,
        Format::Usd,
        Format::Urdf,
        Format::Mjcf,
        Format::Medit,
        Format::TetGen,
        Format::Nastran,
    ];

    /// File name extensions, lower case, without the dot.
    pub fn extensions(self) -> &'static [&'static str] {
        match self {
            Format::Gmsh => &["msh"],
            Format::Vtk => &["vtk"],
            Format::Vtu => &["vtu", "vtp"],
            Format::Obj => &["obj"],
            Format::Ply => &["ply"],
            Format::Stl => &["stl"],
            Format::Seg => &["seg"],
            Format::Pt => &["pt"],
            Format::Csv => &["csv"],
            Format::Gltf => &["glb", "gltf"],
            Format::Usd => &["usda", "usd", "usdc", "usdz"],
            Format::Urdf => &["urdf"],
            Format::Mjcf => &["xml", "mjcf"],
            Format::Medit => &["mesh"],
            Format::TetGen => &["ele", "node"],
            Format::Nastran => &["bdf", "nas", "fem"],
        }
    }

    /// Whether a file holds several meshes, whose readers place them and do not join their points.
    pub fn has_parts(self) -> bool {
        matches!(self, Format::Gltf | Format::Usd | Format::Urdf | Format::Mjcf)
    }

    /// Format that a file name promises.
    pub fn of_extension(path: &Path) -> Option<Format> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        Format::ALL.into_iter().find(|f| f.extensions().contains(&extension.as_str()))
    }

    /// Format of a file: by its first bytes where these are unmistakable, else by its name, else
    /// by what its first bytes look like.
    pub fn detect(path: &Path, data: &[u8]) -> Option<Format> {
        let start = data.trim_ascii_start();
        if data.starts_with(b"glTF") {
            return Some(Format::Gltf);
        }
        if data.starts_with(b"#usda") || data.starts_with(b"PXR-USDC") {
            return Some(Format::Usd);
        }
        if start.starts_with(b"<")
            && let Some(format) = xml::root(data).and_then(|root| match &root[..] {
                "VTKFile" => Some(Format::Vtu),
                "robot" => Some(Format::Urdf),
                "mujoco" => Some(Format::Mjcf),
                _ => None,
            })
        {
            return Some(format);
        }
        let certain: [(&[u8], Format); 4] = [
            (b"$MeshFormat", Format::Gmsh),
            (b"# vtk DataFile", Format::Vtk),
            (b"ply", Format::Ply),
            (b"MeshVersionFormatted", Format::Medit),
        ];
        let magic = certain
            .into_iter()
            .find(|(m, _)| {
                start.starts_with(m) && start.get(m.len()).is_none_or(u8::is_ascii_whitespace)
            })
            .map(|(_, f)| f);
        magic.or_else(|| Format::of_extension(path)).or_else(|| {
            // data of many programs have this name
            let is_dat = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("dat"));
            let looks_like = |words: &[&[u8]]| words.iter().any(|w| start.starts_with(w));
            if looks_like(&[b"solid"]) {
                Some(Format::Stl)
            } else if looks_like(&[b"v ", b"o ", b"g ", b"mtllib "]) {
                Some(Format::Obj)
            } else if is_dat && nastran::looks_like(data) {
                Some(Format::Nastran)
            } else {
                None
            }
        })
    }
}

/// How to read a mesh file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadOptions {
    /// The format; `None` finds it out ([`Format::detect`]).
    pub format: Option<Format>,
    /// Turn all tetrahedra around where every one of them has negative volume (files of the
    /// opposite vertex convention); a note in [`Mesh::notes`] says so. On by default. Single
    /// inverted tetrahedra are never changed; [`Mesh::check`] reports them.
    pub flip_inverted: bool,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { format: None, flip_inverted: true }
    }
}

/// Reads a mesh file with default options.
///
/// # Errors
/// The file cannot be read, is of no known format or does not follow it.
pub fn read(path: &Path) -> Result<Mesh, MeshError> {
    read_with(path, &ReadOptions::default())
}

/// Reads a mesh file.
///
/// # Errors
/// As [`read`].
pub fn read_with(path: &Path, options: &ReadOptions) -> Result<Mesh, MeshError> {
    let data = input::bytes(path, MOST_DATA)
        .map_err(|source| MeshError::Read { file: path.to_path_buf(), source })?;
    parse(path, &data, options)
}

/// Reads a mesh from the bytes of a file; `path` is for the choice of format and for messages.
///
/// # Errors
/// The bytes are of no known format or do not follow it.
pub fn parse(path: &Path, data: &[u8], options: &ReadOptions) -> Result<Mesh, MeshError> {
    // a byte order mark is no part of a text, and of no binary format the beginning
    let data = data.strip_prefix(b"\xef\xbb\xbf").unwrap_or(data);
    let Some(format) = options.format.or_else(|| Format::detect(path, data)) else {
        let known = Format::ALL.iter().flat_map(|f| f.extensions()).map(|e| format!(".{e}"));
        return Err(MeshError::UnknownFormat {
            file: path.to_path_buf(),
            known: known.collect::<Vec<_>>().join(", "),
            convert: convert::advice(path),
        });
    };
    let mut mesh = match format {
        Format::Gmsh => gmsh::read(path, data),
        Format::Vtk => vtk::read(path, data),
        Format::Vtu => vtu::read(path, data),
        Format::Obj => obj::read(path, data),
        Format::Ply => ply::read(path, data),
        Format::Stl => stl::read(path, data),
        Format::Seg => seg::read(path, data),
        Format::Pt => obj::read(path, data).map(|m| m.to_points()),
        Format::Csv => csv::read(path, data),
        Format::Gltf => gltf::read(path, data),
        Format::Usd => usd::read(path, data),
        Format::Urdf => robot::read_urdf(path, data),
        Format::Mjcf => robot::read_mjcf(path, data),
        Format::Medit => medit::read(path, data),
        Format::TetGen => tetgen::read(path, data),
        Format::Nastran => nastran::read(path, data),
    }?;
    mesh.complete_middles();
    if options.flip_inverted && mesh.flip_if_all_inverted() {
        mesh.notes.push(
            "every tetrahedron had negative volume; the order of their vertices was reversed"
                .to_string(),
        );
    }
    Ok(mesh)
}

/// The motion of the points of a USD file with time samples; `None` for a file of another format, and where
/// nothing moves.
///
/// # Errors
/// As [`read`].
pub fn animation(path: &Path) -> Result<Option<Animation>, MeshError> {
    if Format::of_extension(path) != Some(Format::Usd) {
        return Ok(None);
    }
    let data = input::bytes(path, MOST_DATA)
        .map_err(|source| MeshError::Read { file: path.to_path_buf(), source })?;
    usd::read_animation(path, &data)
}

/// Writes a mesh: `.obj` (surface, wires, points) or `.vtu` (all elements) by extension. Numbers
/// are written so that reading gives the same bits.
///
/// # Errors
/// The extension is another one, or the file cannot be written.
pub fn write(path: &Path, mesh: &Mesh) -> Result<(), MeshError> {
    let text = match Format::of_extension(path) {
        Some(Format::Obj) => obj::text(mesh),
        Some(Format::Vtu) => vtu::text(mesh),
        _ => {
            return Err(MeshError::UnknownFormat {
                file: path.to_path_buf(),
                known: ".obj, .vtu (for writing)".to_string(),
                convert: String::new(),
            });
        }
    };
    std::fs::write(path, text)
        .map_err(|source| MeshError::Write { file: path.to_path_buf(), source })
}
