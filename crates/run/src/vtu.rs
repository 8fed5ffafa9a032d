//! Writer of VTK unstructured grids (VTU): XML with raw little-endian arrays appended.

use crate::checksum::Checksum;
use crate::{OutputError, Topology, write_atomically};
use standoff_linalg::{Mat3, Vec3};
use standoff_scene::file::Field;
use standoff_sim::material::{principal_values, von_mises};
use std::io::{self, Write};
use std::path::Path;

/// A state of the simulation, as the writers take it. A list may be empty: the frame lacks it then.
#[derive(Debug, Clone, Copy, Default)]
pub struct FrameData<'a> {
    /// Steps done; also the number in the file's name.
    pub step: u64,
    /// Time, s.
    pub time: f64,
    /// Positions, m (`#V`).
    pub positions: &'a [Vec3],
    /// Velocities, m/s (`#V`).
    pub velocities: &'a [Vec3],
    /// Contact and friction forces, N (`#V`).
    pub contact_forces: &'a [Vec3],
    /// Von Mises stress of every tetrahedron, Pa, in the order of [`Topology::tets`]; in two dimensions of
    /// every triangle.
    pub von_mises: &'a [f64],
    /// Cauchy stress of the same, Pa.
    pub stress: &'a [Mat3],
    /// Cauchy stress at vertices, Pa (`#V`).
    pub recovered_stress: &'a [Mat3],
    /// Estimated error of the stress of every solid element, Pa.
    pub stress_error: &'a [f64],
    /// Logarithmic strain of the same.
    pub strain: &'a [Mat3],
    /// Equivalent plastic strain of the same; empty where nothing yields.
    pub plastic_strain: &'a [f64],
    /// Stretch of every triangle of shells, then of every segment of rods.
    pub stretch: &'a [f64],
    /// Bending energy of the same, J.
    pub bending_energy: &'a [f64],
    /// Distances ε up to which the orientation-aware potential acts, m (`#V`).
    pub contact_reach: &'a [f64],
    /// Subdomain of every cell.
    pub subdomain: &'a [u32],
}

/// VTK cell types.
pub(crate) const VERTEX: u8 = 1;
pub(crate) const LINE: u8 = 3;
pub(crate) const TRIANGLE: u8 = 5;
pub(crate) const TET: u8 = 10;
pub(crate) const QUADRATIC_TRIANGLE: u8 = 22;
pub(crate) const QUADRATIC_TET: u8 = 24;

/// An array of a grid.
pub(crate) enum Array<'a> {
    Vectors(&'a [Vec3]),
    Differences(&'a [Vec3], &'a [Vec3]),
    /// Vectors, followed by so many of zeros.
    Principal(&'a [Vec3], usize),
    /// Components xx, yy, zz, xy, yz, xz of symmetric tensors, followed by so many of zeros.
    Tensors(&'a [Mat3], usize),
    /// Numbers, followed by so many zeros.
    Scalars(&'a [f64], usize),
    Indices(&'a [u32]),
    Bytes(&'a [u8]),
    Connectivity(&'a Topology),
    Offsets(&'a Topology),
    Types(&'a Topology),
}

impl Array<'_> {
    /// VTK type, number of components and number of bytes.
    fn shape(&self) -> (&'static str, usize, usize) {
        match self {
            Self::Vectors(v) | Self::Differences(v, _) => ("Float64", 3, v.len() * 24),
            Self::Principal(v, zeros) => ("Float64", 3, (v.len() + zeros) * 24),
            Self::Tensors(t, zeros) => ("Float64", 6, (t.len() + zeros) * 48),
            Self::Scalars(s, zeros) => ("Float64", 1, (s.len() + zeros) * 8),
            Self::Indices(b) => ("Int32", 1, b.len() * 4),
            Self::Bytes(b) => ("UInt8", 1, b.len()),
            Self::Connectivity(t) => {
                let solids = 4 * t.tets.len() + 10 * t.quadratic.len();
                let triangles = 3 * t.triangles.len() + 6 * t.quadratic_triangles.len();
                let n = solids + triangles + 2 * t.edges.len();
                ("Int32", 1, 4 * (n + t.points.len()))
            }
            Self::Offsets(t) => ("Int32", 1, 4 * t.cells()),
            Self::Types(t) => ("UInt8", 1, t.cells()),
        }
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Vectors(v) => write_floats(out, v.iter().flat_map(|v| [v.x, v.y, v.z])),
            Self::Differences(a, b) => {
                write_floats(out, a.iter().zip(*b).flat_map(|(a, b)| (a - b).data.0[0]))
            }
            Self::Principal(v, zeros) => {
                let zeros = std::iter::repeat_n([0.0; 3], *zeros);
                write_floats(out, v.iter().map(|v| v.data.0[0]).chain(zeros).flatten())
            }
            Self::Tensors(t, zeros) => {
                let parts =
                    |t: &Mat3| [t[(0, 0)], t[(1, 1)], t[(2, 2)], t[(0, 1)], t[(1, 2)], t[(0, 2)]];
                let zeros = std::iter::repeat_n([0.0; 6], *zeros);
                write_floats(out, t.iter().map(parts).chain(zeros).flatten())
            }
            Self::Scalars(s, zeros) => {
                write_floats(out, s.iter().copied().chain(std::iter::repeat_n(0.0, *zeros)))
            }
            Self::Indices(b) => write_indices(out, b.iter().copied()),
            Self::Bytes(b) => out.write_all(b),
            Self::Connectivity(t) => {
                write_indices(out, t.tets.iter().flatten().copied())?;
                write_indices(out, t.quadratic.iter().flatten().copied())?;
                write_indices(out, t.triangles.iter().flatten().copied())?;
                write_indices(out, t.quadratic_triangles.iter().flatten().copied())?;
                write_indices(out, t.edges.iter().flatten().copied())?;
                write_indices(out, t.points.iter().copied())
            }
            Self::Offsets(t) => {
                let ends = cell_sizes(t).scan(0, |end, (_, n)| {
                    *end += n;
                    Some(*end)
                });
                write_indices(out, ends)
            }
            Self::Types(t) => write_bytes(out, cell_sizes(t).map(|(kind, _)| [kind])),
        }
    }
}

fn write_floats(out: &mut dyn Write, values: impl Iterator<Item = f64>) -> io::Result<()> {
    write_bytes(out, values.map(f64::to_le_bytes))
}

fn write_indices(out: &mut dyn Write, values: impl Iterator<Item = u32>) -> io::Result<()> {
    write_bytes(out, values.map(u32::to_le_bytes))
}

/// Writes values of a few bytes each, many at a time.
fn write_bytes<const N: usize>(
    out: &mut dyn Write,
    values: impl Iterator<Item = [u8; N]>,
) -> io::Result<()> {
    const MANY: usize = 8192;
    let mut bytes = Vec::with_capacity(MANY);
    for value in values {
        bytes.extend_from_slice(&value);
        if bytes.len() + N > MANY {
            out.write_all(&bytes)?;
            bytes.clear();
        }
    }
    out.write_all(&bytes)
}

/// VTK type and number of vertices of every cell.
fn cell_sizes(t: &Topology) -> impl Iterator<Item = (u8, u32)> {
    std::iter::repeat_n((TET, 4), t.tets.len())
        .chain(std::iter::repeat_n((QUADRATIC_TET, 10), t.quadratic.len()))
        .chain(std::iter::repeat_n((TRIANGLE, 3), t.triangles.len()))
        .chain(std::iter::repeat_n((QUADRATIC_TRIANGLE, 6), t.quadratic_triangles.len()))
        .chain(std::iter::repeat_n((LINE, 2), t.edges.len()))
        .chain(std::iter::repeat_n((VERTEX, 1), t.points.len()))
}

/// Writes a frame. A list of `data` that is empty is left out; any other must have the right length.
// long: an entry for each array of a frame
pub fn write_vtu(
    path: &Path,
    topology: &Topology,
    data: &FrameData<'_>,
    fields: &[Field],
) -> Result<(), OutputError> {
    let vertices = topology.rest.len();
    check("positions", data.positions.len(), vertices, false)?;
    check("velocities", data.velocities.len(), vertices, true)?;
    check("contact forces", data.contact_forces.len(), vertices, true)?;
    check("von Mises stresses", data.von_mises.len(), topology.solids(), true)?;
    check("stresses", data.stress.len(), topology.solids(), true)?;
    check("recovered stresses", data.recovered_stress.len(), vertices, true)?;
    check("errors of stresses", data.stress_error.len(), topology.solids(), true)?;
    check("strains", data.strain.len(), topology.solids(), true)?;
    check("plastic strains", data.plastic_strain.len(), topology.solids(), true)?;

    let thin = topology.thin.iter().filter(|t| **t).count();
    check("stretches", data.stretch.len(), thin, true)?;
    check("bending energies", data.bending_energy.len(), thin, true)?;
    check("contact reach", data.contact_reach.len(), vertices, true)?;
    check("subdomains", data.subdomain.len(), topology.cells(), true)?;

    let wanted = |field, present: bool| fields.contains(&field) && present;
    let mut point_data = Vec::new();
    if wanted(Field::Displacement, true) {
        point_data.push(("displacement", Array::Differences(data.positions, &topology.rest)));
    }
    if wanted(Field::Velocity, !data.velocities.is_empty()) {
        point_data.push(("velocity", Array::Vectors(data.velocities)));
    }
    if wanted(Field::ContactForce, !data.contact_forces.is_empty()) {
        point_data.push(("contact_force", Array::Vectors(data.contact_forces)));
    }
    if wanted(Field::ContactReach, !data.contact_reach.is_empty()) {
        point_data.push(("contact_reach", Array::Scalars(data.contact_reach, 0)));
    }
    let recovered_von_mises: Vec<f64> = data.recovered_stress.iter().map(von_mises).collect();
    if wanted(Field::RecoveredStress, !data.recovered_stress.is_empty()) {
        point_data.push(("recovered_stress", Array::Tensors(data.recovered_stress, 0)));
        point_data.push(("recovered_von_mises", Array::Scalars(&recovered_von_mises, 0)));
    }
    let mut cell_data = Vec::new();
    let others = topology.cells() - topology.solids();
    let principal: Vec<Vec3> = match wanted(Field::PrincipalStress, true) {
        true => data.stress.iter().map(principal_values).collect(),
        false => Vec::new(),
    };
    if wanted(Field::Stress, !data.stress.is_empty()) {
        cell_data.push(("stress", Array::Tensors(data.stress, others)));
    }
    if !principal.is_empty() {
        cell_data.push(("principal_stress", Array::Principal(&principal, others)));
    }
    if wanted(Field::RecoveredStress, !data.stress_error.is_empty()) {
        cell_data.push(("stress_error", Array::Scalars(data.stress_error, others)));
    }
    if wanted(Field::Strain, !data.strain.is_empty()) {
        cell_data.push(("strain", Array::Tensors(data.strain, others)));
    }
    if wanted(Field::VonMises, !data.von_mises.is_empty()) {
        cell_data.push(("von_mises", Array::Scalars(data.von_mises, others)));
    }
    if wanted(Field::PlasticStrain, !data.plastic_strain.is_empty()) {
        cell_data.push(("plastic_strain", Array::Scalars(data.plastic_strain, others)));
    }
    cell_data.push(("body", Array::Indices(&topology.cell_body)));
    if !data.subdomain.is_empty() {
        cell_data.push(("subdomain", Array::Indices(data.subdomain)));
    }
    let stretch = over_cells(topology, data.stretch);
    let bending_energy = over_cells(topology, data.bending_energy);
    if wanted(Field::Stretch, !data.stretch.is_empty()) {
        cell_data.push(("stretch", Array::Scalars(&stretch, 0)));
    }
    if wanted(Field::BendingEnergy, !data.bending_energy.is_empty()) {
        cell_data.push(("bending_energy", Array::Scalars(&bending_energy, 0)));
    }
    for (name, values) in [("thickness", &topology.thickness), ("radius", &topology.radius)] {
        if values.iter().any(|v| *v > 0.0) {
            cell_data.push((name, Array::Scalars(values, 0)));
        }
    }
    let times = [data.time];
    let sections = [
        ("FieldData", vec![("TimeValue", Array::Scalars(&times, 0))]),
        ("PointData", point_data),
        ("CellData", cell_data),
        ("Points", vec![("points", Array::Vectors(data.positions))]),
        (
            "Cells",
            vec![
                ("connectivity", Array::Connectivity(topology)),
                ("offsets", Array::Offsets(topology)),
                ("types", Array::Types(topology)),
            ],
        ),
    ];
    write_atomically(path, |out| write_grid(out, &sections, vertices, topology.cells()))
}

/// Values of the thin cells, 0 for the others.
fn over_cells(topology: &Topology, values: &[f64]) -> Vec<f64> {
    let mut next = values.iter().copied();
    let of = |thin: &bool| if *thin { next.next().unwrap_or(0.0) } else { 0.0 };
    topology.thin.iter().map(of).collect()
}

fn check(
    what: &'static str,
    found: usize,
    expected: usize,
    optional: bool,
) -> Result<(), OutputError> {
    if found == expected || (optional && found == 0) {
        return Ok(());
    }
    Err(OutputError::Length { what, found, expected })
}

/// Bytes of the size before each array.
const HEADER: usize = 8;

/// Bytes of an array to put before arrays of these sizes, so that meshio 5 reads the file. It turns the
/// arrays into base64 one after the other, and looks each up by its offset in the file after it has
/// replaced the offsets of those before by theirs in the base64 text: none of these may be equal.
fn padding(sizes: &[usize]) -> usize {
    let confused = |padding: &usize| {
        let first = (*padding > 0).then_some(*padding);
        let (mut raw, mut text) = (0, 0);
        let mut texts = Vec::with_capacity(sizes.len() + 1);
        for size in first.iter().chain(sizes) {
            if texts.contains(&raw) && raw > 0 {
                return true;
            }
            texts.push(text);
            raw += HEADER + size;
            text += (HEADER + size).div_ceil(3) * 4;
        }
        false
    };
    // with an odd size, a multiple of 4 plus 1, no array of whole words comes to a multiple of 4
    (0..64).find(|padding| !confused(padding)).unwrap_or(0)
}

// long: a file from its head to its end
pub(crate) fn write_grid(
    out: &mut dyn Write,
    sections: &[(&str, Vec<(&str, Array<'_>)>)],
    points: usize,
    cells: usize,
) -> io::Result<()> {
    let mut checksum = Checksum::new(out);
    let out = &mut checksum;
    writeln!(out, r#"<?xml version="1.0"?>"#)?;
    writeln!(
        out,
        r#"<VTKFile type="UnstructuredGrid" version="1.0" byte_order="LittleEndian" header_type="UInt64">"#
    )?;
    writeln!(out, "<UnstructuredGrid>")?;
    let sizes: Vec<usize> = sections.iter().flat_map(|s| &s.1).map(|(_, a)| a.shape().2).collect();
    let padding = padding(&sizes);
    let mut offset = if padding > 0 { HEADER + padding } else { 0 };
    for (k, (section, arrays)) in sections.iter().enumerate() {
        if k == 1 {
            writeln!(out, r#"<Piece NumberOfPoints="{points}" NumberOfCells="{cells}">"#)?;
        }
        writeln!(out, "<{section}>")?;
        if k == 0 && padding > 0 {
            writeln!(
                out,
                r#"<DataArray type="UInt8" Name="padding" NumberOfTuples="{padding}" format="appended" offset="0"/>"#
            )?;
        }
        for (name, array) in arrays {
            let (kind, components, bytes) = array.shape();
            let shape = match k {
                0 => r#"NumberOfTuples="1""#.to_owned(),
                _ => format!(r#"NumberOfComponents="{components}""#),
            };
            writeln!(
                out,
                r#"<DataArray type="{kind}" Name="{name}" {shape} format="appended" offset="{offset}"/>"#
            )?;
            offset += HEADER + bytes;
        }
        writeln!(out, "</{section}>")?;
    }
    writeln!(out, "</Piece>\n</UnstructuredGrid>")?;
    write!(out, "<AppendedData encoding=\"raw\">\n_")?;
    if padding > 0 {
        out.write_all(&(padding as u64).to_le_bytes())?;
        out.write_all(&vec![0; padding])?;
    }
    for (_, array) in sections.iter().flat_map(|(_, arrays)| arrays) {
        out.write_all(&(array.shape().2 as u64).to_le_bytes())?;
        array.write(out)?;
    }
    writeln!(out, "\n</AppendedData>\n</VTKFile>")?;
    checksum.finish()
}
