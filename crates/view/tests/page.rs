//! The build script with and without what it needs: it never fails, and says what is missing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A crate with a page to be built, and the build script as a program.
struct Crate {
    folder: TempDir,
}

impl Crate {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for sub in ["web/src", "web/dist", "out", "bin"] {
            fs::create_dir_all(root.join(sub)).unwrap();
        }
        for file in ["src/index.html", "build.mjs", "package.json", "package-lock.json"] {
            fs::write(root.join("web").join(file), "source").unwrap();
        }
        let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("build.rs");
        let mut compile = Command::new(rustc);
        compile.args(["--edition", "2024", "-o"]).arg(root.join("script")).arg(source);
        assert!(compile.status().unwrap().success());
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A program on the search path that is a shell script.
    #[cfg(unix)]
    fn program(&self, name: &str, script: &str) {
        use std::os::unix::fs::PermissionsExt;
        let path = self.path("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// What the script says, and the list of files that it embeds.
    fn build(&self) -> (String, String) {
        let mut script = Command::new(self.path("script"));
        script.env("CARGO_MANIFEST_DIR", self.folder.path()).env("OUT_DIR", self.path("out"));
        let told =
            script.env("PATH", self.path("bin")).env_remove("CARGO_NET_OFFLINE").output().unwrap();
        assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
        let list = fs::read_to_string(self.path("out/assets.rs")).unwrap();
        (String::from_utf8(told.stdout).unwrap(), list)
    }
}

const EMPTY: &str = "&[\n]";

#[test]
fn without_node_there_is_no_page_and_the_build_says_why() {
    let (said, list) = Crate::new().build();
    let why = "because Node.js was not found";
    assert!(
        said.contains(&format!("cargo::warning=the viewer's page is left out, {why}\n")),
        "{said}"
    );
    assert!(
        said.contains("cargo::rustc-env=STANDOFF_WHY_NO_PAGE=Node.js was not found\n"),
        "{said}"
    );
    assert_eq!(list, EMPTY);
}

#[test]
fn a_page_that_was_built_after_its_sources_is_taken() {
    let package = Crate::new();
    fs::write(package.path("web/dist/index.html"), "page").unwrap();
    let (said, list) = package.build();
    assert!(!said.contains("cargo::warning"), "{said}");
    assert!(list.contains("web/dist/index.html"), "{list}");
    // as a published crate has it
    for source in ["build.mjs", "package.json", "package-lock.json"] {
        fs::remove_file(package.path("web").join(source)).unwrap();
    }
    fs::remove_dir_all(package.path("web/src")).unwrap();
    assert!(package.build().1.contains("web/dist/index.html"));
    fs::remove_file(package.path("web/dist/index.html")).unwrap();
    assert!(package.build().0.contains("because its sources are not there"));
}

#[cfg(unix)]
#[test]
fn an_older_page_is_built_again() {
    let package = Crate::new();
    fs::write(package.path("web/dist/index.html"), "page").unwrap();
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(5);
    let source = fs::File::options().write(true).open(package.path("web/src/index.html")).unwrap();
    source.set_modified(later).unwrap();
    assert!(package.build().0.contains("Node.js was not found"));

    package.program("node", "echo v18.20.0");
    assert!(package.build().0.contains("because Node.js v18.20.0 is older than 20\n"));

    // Node.js without a network: npm says so
    package
        .program("node", "[ \"$1\" = --version ] && echo v22.1.0 || echo bundled >dist/index.html");
    package.program(
        "npm",
        "echo 'npm error code ENOTFOUND' >&2; echo 'npm error no registry' >&2; exit 1",
    );
    let (said, list) = package.build();
    assert!(
        said.contains("npm could not get the packages that it is made of (no registry)\n"),
        "{said}"
    );
    assert_eq!(list, EMPTY);

    // with everything, and the packages are installed once
    package.program("npm", "echo x >>calls");
    for _ in 0..2 {
        let (said, list) = package.build();
        assert!(!said.contains("cargo::warning"), "{said}");
        assert!(list.contains("out/web/dist/index.html"), "{list}");
    }
    assert_eq!(fs::read_to_string(package.path("out/web/calls")).unwrap(), "x\n");
    // a change of the lock file installs them again
    fs::write(package.path("web/package-lock.json"), "other").unwrap();
    package.build();
    assert_eq!(fs::read_to_string(package.path("out/web/calls")).unwrap(), "x\nx\n");
}
