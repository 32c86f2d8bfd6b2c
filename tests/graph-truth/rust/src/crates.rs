//! Facts from `cargo metadata` and `rustc`.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

pub struct Package {
    pub folder: PathBuf,
    pub is_2015: bool,
    edition: String,
    features: Vec<String>,
    /// Name in the code, and root.
    pub lib: Option<(String, PathBuf)>,
    pub roots: Vec<PathBuf>,
    /// Those of the library and of binaries.
    pub main_roots: Vec<PathBuf>,
    /// Name in the code where it is renamed, and the folder.
    pub dependencies: Vec<(Option<String>, PathBuf)>,
}

pub fn packages(manifest: &Path) -> Vec<Package> {
    let output = Command::new("cargo")
        .args([
            "metadata",
            "--no-deps",
            "--offline",
            "--format-version",
            "1",
            "--manifest-path",
        ])
        .arg(manifest)
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("metadata is JSON");
    list(&metadata["packages"]).iter().map(package).collect()
}

fn package(one: &Value) -> Package {
    let path = |value: &Value| PathBuf::from(value.as_str().unwrap_or_default());
    let mut lib = None;
    let mut roots = Vec::new();
    let mut main_roots = Vec::new();
    for target in list(&one["targets"]) {
        let root = path(&target["src_path"]);
        if !root.exists() {
            continue;
        }
        let root = root.canonicalize().expect("it exists");
        let is_lib = |kind: &Value| {
            matches!(
                kind.as_str(),
                Some("lib" | "rlib" | "dylib" | "cdylib" | "staticlib" | "proc-macro")
            )
        };
        if list(&target["kind"]).iter().any(is_lib) {
            let name = target["name"].as_str().unwrap_or_default().replace('-', "_");
            lib = Some((name, root.clone()));
        }
        let is_main = |kind: &Value| is_lib(kind) || kind == "bin";
        if list(&target["kind"]).iter().any(is_main) {
            main_roots.push(root.clone());
        }
        roots.push(root);
    }
    let dependencies = list(&one["dependencies"]).iter().filter_map(|dependency| {
        let folder = PathBuf::from(dependency["path"].as_str()?);
        let name = dependency["rename"].as_str().map(|name| name.replace('-', "_"));
        Some((name, folder.canonicalize().ok()?))
    });
    let edition = one["edition"].as_str().unwrap_or("2015").to_owned();
    Package {
        folder: path(&one["manifest_path"])
            .parent()
            .expect("a folder")
            .canonicalize()
            .expect("it exists"),
        is_2015: edition == "2015",
        features: one["features"]
            .as_object()
            .map(|features| features.keys().cloned().collect())
            .unwrap_or_default(),
        dependencies: dependencies.collect(),
        edition,
        lib,
        roots,
        main_roots,
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The files that the compiler reads for the crate at `root`, with every feature and tests. Crates that it cannot find
/// are no matter: it has read all modules before it looks for them.
pub fn compiled_files(root: &Path, package: &Package) -> Vec<PathBuf> {
    let info = std::env::temp_dir().join(format!("graph-truth-{}.d", std::process::id()));
    let mut command = Command::new("rustc");
    command.args([
        "--cap-lints=allow",
        "--crate-name=x",
        "--crate-type=lib",
        "--cfg=test",
        "--edition",
        &package.edition,
    ]);
    for feature in &package.features {
        command.arg("--cfg").arg(format!("feature=\"{feature}\""));
    }
    let mut emit = std::ffi::OsString::from("--emit=dep-info=");
    emit.push(&info);
    let _ = command
        .arg(emit)
        .arg(root)
        .env("CARGO_MANIFEST_DIR", &package.folder)
        .output();
    let text = std::fs::read_to_string(&info).unwrap_or_default();
    let _ = std::fs::remove_file(&info);
    let first = text
        .lines()
        .next()
        .and_then(|line| line.split_once(": "))
        .map_or("", |(_, files)| files);
    let files = first.split(' ').filter(|file| file.ends_with(".rs"));
    files
        .filter_map(|file| PathBuf::from(file).canonicalize().ok())
        .collect()
}
