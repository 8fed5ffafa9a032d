//! Formats that are not read, and programs that turn them into one that is.

use std::path::Path;

/// Mesh formats that meshio reads.
const MESHIO: [&str; 18] = [
    "meshb", "med", "vol", "xdmf", "xmf", "cgns", "e", "exo", "ex2", "f3grid", "h5m", "mdpa",
    "su2", "ugrid", "avs", "off", "wkt", "dato",
];

/// Geometry of CAD programs, which Gmsh fills with tetrahedra.
const CAD: [&str; 6] = ["step", "stp", "iges", "igs", "brep", "geo"];

/// Mesh formats that Gmsh reads and meshio does not.
const GMSH: [&str; 2] = ["unv", "p3d"];

/// Formats that assimp reads.
const ASSIMP: [&str; 6] = ["dae", "3ds", "3mf", "x3d", "ac", "lwo"];

/// Formats that Blender imports, with its operator.
const BLENDER: [(&str, &str); 2] =
    [("fbx", "bpy.ops.import_scene.fbx"), ("abc", "bpy.ops.wm.alembic_import")];

/// How to convert a file of this name: a sentence with a command, or nothing.
pub(super) fn advice(path: &Path) -> String {
    let Some(extension) = path.extension().and_then(|e| e.to_str()) else { return String::new() };
    let extension = &extension.to_ascii_lowercase()[..];
    let (file, to) = (quoted(path), |new: &str| quoted(&path.with_extension(new)));
    // texts of Python in single quotes, as the command is in double ones
    let name = |path: &Path| path.to_string_lossy().replace(['"', '\'', '\\', '$', '`'], "_");
    let blender = |open: String, script: String| {
        let out = name(&path.with_extension("glb"));
        format!(
            "Blender converts it: blender -b{open} --python-expr \"import bpy; {script}\
             bpy.ops.export_scene.gltf(filepath='{out}')\""
        )
    };
    let advice = match extension {
        "inp" => format!("Standoff makes a scene of it: standoff convert {file} -o {}", to("toml")),
        e if MESHIO.contains(&e) => {
            format!(
                "meshio converts it: pip install 'meshio[all]'; meshio convert {file} {}",
                to("vtu")
            )
        }
        e if CAD.contains(&e) => format!(
            "Gmsh fills it with tetrahedra: gmsh {file} -3 -clmax SIZE -o {}, where SIZE is the length of \
             edges in its units",
            to("msh")
        ),
        e if GMSH.contains(&e) => format!("Gmsh converts it: gmsh {file} -save -o {}", to("msh")),
        e if ASSIMP.contains(&e) => {
            format!("assimp converts it: assimp export {file} {}", to("obj"))
        }
        "blend" => blender(format!(" {file}"), String::new()),
        e => match BLENDER.iter().find(|(extension, _)| *extension == e) {
            Some((_, operator)) => {
                let empty = "bpy.ops.wm.read_factory_settings(use_empty=True)";
                let script = format!("{empty}; {operator}(filepath='{}'); ", name(path));
                blender(String::new(), script)
            }
            None => return String::new(),
        },
    };
    format!(". {advice}")
}

/// A path as a shell takes it.
fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy().into_owned();
    let plain = |c: char| c.is_alphanumeric() || "/._-+:".contains(c);
    if text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_program_is_named_with_its_command() {
        for (file, command) in [
            ("a/bar.inp", "standoff convert a/bar.inp -o a/bar.toml"),
            ("a/bar.med", "meshio convert a/bar.med a/bar.vtu"),
            ("my bar.MESHB", "meshio convert 'my bar.MESHB' 'my bar.vtu'"),
            ("bar.step", "gmsh bar.step -3 -clmax SIZE -o bar.msh"),
            ("bar.unv", "gmsh bar.unv -save -o bar.msh"),
            ("bar.dae", "assimp export bar.dae bar.obj"),
            (
                "bar.fbx",
                "import_scene.fbx(filepath='bar.fbx'); bpy.ops.export_scene.gltf(filepath='bar.glb')\"",
            ),
            ("bar.blend", "blender -b bar.blend --python-expr \"import bpy; bpy.ops.export_scene"),
        ] {
            let advice = advice(Path::new(file));
            assert!(advice.contains(command), "{advice}");
        }
        assert_eq!(advice(Path::new("bar.xyz")), "");
        assert_eq!(advice(Path::new("bar")), "");
    }
}
