//! Paths as a scene file names its meshes: relative to its folder.

use std::path::{Component, Path, PathBuf};

/// A path from the root, without components that stand for the folder itself.
pub fn absolute(path: &Path) -> PathBuf {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    absolute.components().filter(|c| *c != Component::CurDir).collect()
}

/// `path` seen from `folder`, both absolute; unchanged where they have no common root.
pub fn relative(path: &Path, folder: &Path) -> PathBuf {
    let common = path.components().zip(folder.components()).take_while(|(a, b)| a == b).count();
    if common == 0 || folder.components().any(|c| c == Component::ParentDir) {
        return path.to_owned();
    }
    let up = folder.components().skip(common).map(|_| Component::ParentDir);
    up.chain(path.components().skip(common)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_to_the_folder() {
        let of = |path, folder| relative(Path::new(path), Path::new(folder));
        assert_eq!(of("/a/b/m.obj", "/a/b"), Path::new("m.obj"));
        assert_eq!(of("/a/m.obj", "/a/b/c"), Path::new("../../m.obj"));
        assert_eq!(of("/x/m.obj", "/a"), Path::new("../x/m.obj"));
    }
}
