//! Mesh files that a reference scene names: where they lie, and what of them is used.

use crate::error::Problem;
use standoff_mesh::Mesh;
use standoff_mesh::format;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What of a mesh file a shape is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Content {
    /// Tetrahedra: an elastic solid.
    Volume,
    /// Triangles.
    Surface,
    /// Segments.
    Wires,
    /// Bare points.
    Points,
}

/// A mesh as a shape uses it: without points that no element has, in the order of the file.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    /// The file.
    pub path: PathBuf,
    /// What of it is used.
    pub content: Content,
    /// Whether the file itself holds more than that, so that it has to be reduced.
    pub reduced: bool,
    /// The used part.
    pub mesh: Arc<Mesh>,
}

/// Finds and reads mesh files, each once.
pub(crate) struct Meshes {
    folders: Vec<PathBuf>,
    read: BTreeMap<(PathBuf, Content), Source>,
    /// What readers changed or left out.
    pub notes: Vec<String>,
}

impl Meshes {
    /// Looks in `roots`, the folder of `scene` and its ancestors, and the working directory.
    pub fn new(scene: &Path, roots: &[PathBuf]) -> Self {
        let absolute = std::path::absolute(scene).unwrap_or_else(|_| scene.to_owned());
        let ancestors = absolute.ancestors().skip(1).map(Path::to_owned);
        let working = std::env::current_dir();
        let mut folders: Vec<PathBuf> = Vec::new();
        for folder in roots.iter().cloned().chain(ancestors).chain(working) {
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        Self { folders, read: BTreeMap::new(), notes: Vec::new() }
    }

    /// The mesh of a shape. A missing `.seg` or `.pt` is replaced by the edges or vertices of the
    /// `.obj` of the same name.
    pub fn shape(&mut self, written: &str) -> Result<Source, Problem> {
        let extension = Path::new(written).extension().and_then(|e| e.to_str()).unwrap_or("");
        let with_extension;
        let written = match extension {
            // the reference reads TetGen's pair of files where there is none
            "" => {
                with_extension = format!("{written}.ele");
                &with_extension
            }
            _ => written,
        };
        let content = match extension {
            "msh" | "ele" | "" => Content::Volume,
            "obj" => Content::Surface,
            "seg" => Content::Wires,
            "pt" => Content::Points,
            other => {
                return Err(Problem::malformed(format!(
                    "'{written}': the kind of the shape follows from the extension, which is .msh, \
                     .ele, .obj, .seg or .pt, not .{other}"
                )));
            }
        };
        let path = self.find_shape(written, content)?;
        self.source(path, content)
    }

    /// The mesh of a `meshCO`.
    pub fn obstacle(&mut self, written: &str) -> Result<Source, Problem> {
        let path = self.find(written, Path::is_file)?;
        self.source(path, Content::Surface)
    }

    /// The folder of a mesh sequence and the positions of each of its meshes.
    pub fn sequence(
        &mut self,
        written: &str,
        of: &Source,
    ) -> Result<(PathBuf, Vec<Arc<Mesh>>), Problem> {
        let folder = self.find(written, Path::is_dir)?;
        let extension = match of.content {
            Content::Volume => "msh",
            Content::Surface => "obj",
            Content::Wires => "seg",
            Content::Points => "pt",
        };
        let mut frames = Vec::new();
        loop {
            let first = folder.join(format!("{}.{extension}", frames.len()));
            let second = first.with_extension("obj");
            let Some(path) = [first, second].into_iter().find(|p| p.is_file()) else { break };
            let frame = self.source(path, of.content)?;
            let (expected, found) = (of.mesh.points.len(), frame.mesh.points.len());
            if expected != found {
                return Err(Problem::Mesh(format!(
                    "{} has {found} vertices, the shape has {expected}",
                    frame.path.display()
                )));
            }
            frames.push(frame.mesh);
        }
        if frames.is_empty() {
            let what = format!("{} holds no mesh named 0.{extension}", folder.display());
            return Err(Problem::Mesh(what));
        }
        Ok((folder, frames))
    }

    fn find_shape(&self, written: &str, content: Content) -> Result<PathBuf, Problem> {
        let found = self.find(written, Path::is_file);
        if found.is_ok() || !matches!(content, Content::Wires | Content::Points) {
            return found;
        }
        let surface = Path::new(written).with_extension("obj");
        self.find(&surface.to_string_lossy(), Path::is_file).or(found)
    }

    /// The first file or folder of that name, with or without a leading `input/`.
    fn find(&self, written: &str, exists: fn(&Path) -> bool) -> Result<PathBuf, Problem> {
        let bare = written.strip_prefix("input/").unwrap_or(written);
        let names = [PathBuf::from(written), PathBuf::from(bare), Path::new("input").join(bare)];
        let candidates = self.folders.iter().flat_map(|f| names.iter().map(move |n| f.join(n)));
        candidates.into_iter().find(|p| exists(p)).ok_or_else(|| Problem::MissingMesh {
            written: written.to_owned(),
            folders: self.folders.clone(),
        })
    }

    fn source(&mut self, path: PathBuf, content: Content) -> Result<Source, Problem> {
        let key = (path, content);
        if let Some(source) = self.read.get(&key) {
            return Ok(source.clone());
        }
        let file = format::read(&key.0).map_err(|e| Problem::Mesh(e.to_string()))?;
        let (mut mesh, reduced) = part(&file, content);
        let before = mesh.points.len();
        mesh.compact();
        let name = key.0.display();
        self.notes.extend(file.notes.iter().map(|n| format!("{name}: {n}")));
        if mesh.points.is_empty() {
            return Err(Problem::Mesh(format!("{name} holds no {}", content.plural())));
        }
        if mesh.points.len() < before {
            let dropped = before - mesh.points.len();
            self.notes.push(format!(
                "{name}: {dropped} vertices belong to no element and are left out; the numbers of \
                 later vertices differ from the reference's"
            ));
        }
        let source = Source { path: key.0.clone(), content, reduced, mesh: Arc::new(mesh) };
        self.read.insert(key, source.clone());
        Ok(source)
    }
}

impl Content {
    fn plural(self) -> &'static str {
        match self {
            Content::Volume => "tetrahedra",
            Content::Surface => "triangles",
            Content::Wires => "segments",
            Content::Points => "points",
        }
    }
}

/// The part of a mesh file that a shape uses, and whether the file as a whole would be used
/// differently.
fn part(file: &Mesh, content: Content) -> (Mesh, bool) {
    let points = file.points.clone();
    match content {
        Content::Volume => (Mesh { points, tets: file.tets.clone(), ..Mesh::default() }, false),
        Content::Surface => {
            let reduced = !file.edges.is_empty() || !file.vertices.is_empty();
            (Mesh { points, triangles: file.triangles.clone(), ..Mesh::default() }, reduced)
        }
        Content::Wires if file.triangles.is_empty() => {
            (Mesh { points, edges: file.edges.clone(), ..Mesh::default() }, false)
        }
        Content::Wires => (file.to_wires(), true),
        Content::Points => {
            let reduced = file.vertices.len() != file.points.len();
            (file.to_points(), reduced || !file.triangles.is_empty())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_in_roots_and_ancestors_with_and_without_input() {
        let root = tempfile::tempdir().unwrap();
        let deep = root.path().join("input/paperExamples/x");
        std::fs::create_dir_all(&deep).unwrap();
        let triangle = "v 0 0 0\nv 1 0 0\nv 0 0 1\nf 1 3 2\n";
        std::fs::create_dir_all(root.path().join("input/triMeshes")).unwrap();
        std::fs::write(root.path().join("input/triMeshes/t.obj"), triangle).unwrap();
        let mut meshes = Meshes::new(&deep.join("scene.txt"), &[]);
        let source = meshes.shape("input/triMeshes/t.obj").unwrap();
        assert_eq!(source.mesh.triangles.len(), 1);
        assert_eq!(meshes.shape("triMeshes/t.obj").unwrap().path, source.path);
        // edges and vertices of the surface stand in for missing files
        let wires = meshes.shape("input/triMeshes/t.seg").unwrap();
        assert_eq!((wires.mesh.edges.len(), wires.reduced), (3, true));
        let points = meshes.shape("input/triMeshes/t.pt").unwrap();
        assert_eq!((points.mesh.vertices.len(), points.reduced), (3, true));
        // a pair of files of TetGen is named by one of them or by neither
        let folder = root.path().join("input/tetMeshes");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("t.node"), "4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n")
            .unwrap();
        std::fs::write(folder.join("t.ele"), "1 4 0\n1 1 2 3 4\n").unwrap();
        for written in ["input/tetMeshes/t.ele", "tetMeshes/t"] {
            let source = meshes.shape(written).unwrap();
            assert_eq!((source.mesh.tets.len(), source.content), (1, Content::Volume), "{written}");
        }
        // elsewhere only a root helps
        let elsewhere = tempfile::tempdir().unwrap();
        let scene = elsewhere.path().join("scene.txt");
        let missing = Meshes::new(&scene, &[]).shape("input/triMeshes/t.obj").unwrap_err();
        assert!(missing.to_string().contains("--mesh-root"), "{missing}");
        for root in [root.path().to_owned(), root.path().join("input")] {
            assert!(Meshes::new(&scene, &[root]).shape("input/triMeshes/t.obj").is_ok());
        }
        assert!(Meshes::new(&scene, &[]).shape("input/tetMeshes/t").is_err());
    }
}
