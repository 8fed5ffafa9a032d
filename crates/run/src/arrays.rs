//! The arrays of a file that [`crate::vtu`] wrote, each read on request.

use crate::OutputError;
use crate::files::open_file;
use standoff_linalg::Vec3;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// What the values of an array belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Location {
    /// The whole file.
    Field,
    /// Vertices.
    Point,
    /// Cells: tetrahedra, then triangles, segments and points.
    Cell,
    /// They are the positions, or describe the cells.
    Grid,
}

/// An array of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArrayInfo {
    /// Name.
    pub name: String,
    /// What its values belong to.
    pub location: Location,
    /// Type of its values in VTK's words.
    pub kind: String,
    /// Values per vertex or cell.
    pub components: usize,
    /// Where its values begin in the file, bytes.
    start: u64,
    /// Their length, bytes.
    length: usize,
}

/// A frame, or the culprits of a failed step, opened for reading single arrays. It reads the one layout
/// that Standoff writes; other VTU files are read as meshes, by [`standoff_mesh::format`].
#[derive(Debug)]
pub struct FrameFile {
    path: PathBuf,
    file: File,
    arrays: Vec<ArrayInfo>,
}

const MARK: &[u8] = b"<AppendedData encoding=\"raw\">\n_";
/// A head is some 2 kB long; what is longer is another file.
const LONGEST_HEAD: usize = 1 << 18;
/// Bytes of the length before each array.
const HEADER: u64 = 8;

impl FrameFile {
    /// Opens a file and reads what it holds, but none of the values.
    ///
    /// # Errors
    /// [`OutputError::Read`], or [`OutputError::Damaged`] for another file or one that is cut off.
    pub fn open(path: &Path) -> Result<Self, OutputError> {
        let mut file = open_file(path).map_err(OutputError::read(path))?;
        let damaged = |what| OutputError::Damaged { path: path.to_owned(), what };
        let head = read_head(&mut file).map_err(OutputError::read(path))?;
        let head = head.ok_or_else(|| {
            damaged("it is not a frame of standoff (no raw appended data)".to_owned())
        })?;
        let text =
            std::str::from_utf8(&head).map_err(|_| damaged("its head is not text".into()))?;
        let data = (head.len() + MARK.len()) as u64;
        let tags = tags(text).map_err(damaged)?;
        let mut arrays = Vec::with_capacity(tags.len());
        for (mut array, offset) in tags {
            let size = size_of(&mut file, data, offset).map_err(OutputError::read(path))?;
            let Some((start, length)) = size else {
                return Err(damaged(format!("the array '{}' is truncated", array.name)));
            };
            (array.start, array.length) = (start, length);
            arrays.push(array);
        }
        Ok(Self { path: path.to_owned(), file, arrays })
    }

    /// What the file holds.
    pub fn arrays(&self) -> &[ArrayInfo] {
        &self.arrays
    }

    /// Numbers of an array, or `None` if the file lacks it.
    pub fn floats(&mut self, name: &str) -> Result<Option<Vec<f64>>, OutputError> {
        match self.find(name) {
            None => Ok(None),
            Some(array) if array.kind == "Float64" && array.length % 8 == 0 => {
                let bytes = self.bytes_of(&array)?;
                Ok(Some(bytes.as_chunks::<8>().0.iter().map(|c| f64::from_le_bytes(*c)).collect()))
            }
            Some(_) => Err(self.damaged(format!("the array '{name}' is not of numbers"))),
        }
    }

    /// Vectors of an array, or `None` if the file lacks it.
    pub fn vectors(&mut self, name: &str) -> Result<Option<Vec<Vec3>>, OutputError> {
        let Some(values) = self.floats(name)? else { return Ok(None) };
        match values.as_chunks::<3>() {
            (chunks, []) => Ok(Some(chunks.iter().map(|c| Vec3::from(*c)).collect())),
            _ => Err(self.damaged(format!("the array '{name}' is not of vectors"))),
        }
    }

    /// Whole numbers of an array.
    pub fn indices(&mut self, name: &str) -> Result<Vec<u32>, OutputError> {
        match self.find(name) {
            Some(array) if array.kind == "Int32" && array.length % 4 == 0 => {
                let bytes = self.bytes_of(&array)?;
                Ok(bytes.as_chunks::<4>().0.iter().map(|c| u32::from_le_bytes(*c)).collect())
            }
            _ => Err(self.damaged(format!("the array '{name}' is missing or not of integers"))),
        }
    }

    /// Bytes of an array.
    pub fn bytes(&mut self, name: &str) -> Result<Vec<u8>, OutputError> {
        match self.find(name) {
            Some(array) => self.bytes_of(&array),
            None => Err(self.damaged(format!("the array '{name}' is missing"))),
        }
    }

    /// An error that says what is wrong with this file.
    pub fn damaged(&self, what: String) -> OutputError {
        OutputError::Damaged { path: self.path.clone(), what }
    }

    fn find(&self, name: &str) -> Option<ArrayInfo> {
        self.arrays.iter().find(|a| a.name == name).cloned()
    }

    fn bytes_of(&mut self, array: &ArrayInfo) -> Result<Vec<u8>, OutputError> {
        let mut bytes = vec![0; array.length];
        let read = self.file.seek(SeekFrom::Start(array.start));
        read.and_then(|_| self.file.read_exact(&mut bytes))
            .map_err(OutputError::read(&self.path))?;
        Ok(bytes)
    }
}

/// The text before the values; `None` if there is none.
fn read_head(file: &mut File) -> io::Result<Option<Vec<u8>>> {
    let mut head = Vec::new();
    while head.len() < LONGEST_HEAD {
        let read = file.by_ref().take(4096).read_to_end(&mut head)?;
        if let Some(end) = head.windows(MARK.len()).position(|w| w == MARK) {
            head.truncate(end);
            return Ok(Some(head));
        }
        if read == 0 {
            break;
        }
    }
    Ok(None)
}

/// The arrays that a head lists, each with its offset.
fn tags(head: &str) -> Result<Vec<(ArrayInfo, u64)>, String> {
    let mut location = Location::Grid;
    let mut all = Vec::new();
    for tag in head.split('<').skip(1) {
        let name = tag.split([' ', '>']).next().unwrap_or_default();
        location = match name {
            "FieldData" => Location::Field,
            "PointData" => Location::Point,
            "CellData" => Location::Cell,
            "Points" | "Cells" => Location::Grid,
            _ => location,
        };
        if name != "DataArray" {
            continue;
        }
        let optional = |key: &str| {
            let start = tag.find(&format!(" {key}=\"")).map(|k| k + key.len() + 3)?;
            tag[start..].split('"').next()
        };
        let attribute = |key: &str| optional(key).ok_or_else(|| format!("an array has no {key}"));
        let offset = attribute("offset")?.parse().map_err(|_| "an offset is not a number")?;
        let components = match optional("NumberOfComponents") {
            Some(count) => count.parse().map_err(|_| "a number of components is not a number")?,
            None => 1,
        };
        let (name, kind) = (attribute("Name")?.to_owned(), attribute("type")?.to_owned());
        all.push((ArrayInfo { name, location, kind, components, start: 0, length: 0 }, offset));
    }
    Ok(all)
}

/// Where the values of an array begin and their length; `None` if they are not all there.
fn size_of(file: &mut File, data: u64, offset: u64) -> io::Result<Option<(u64, usize)>> {
    let end = file.metadata()?.len();
    let Some(at) = data.checked_add(offset) else { return Ok(None) };
    let Some(start) = at.checked_add(HEADER).filter(|start| *start <= end) else { return Ok(None) };
    let mut size = [0; HEADER as usize];
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(&mut size)?;
    let size = u64::from_le_bytes(size);
    let whole = start.checked_add(size).is_some_and(|last| last <= end);
    Ok(usize::try_from(size).ok().filter(|_| whole).map(|size| (start, size)))
}
