//! Manifests: files with facts that a resolver cannot get from paths, and the format of each kind.
//!
//! - [`package_json`], [`package_targets`], [`dependency`], [`workspace`], [`deno`], [`tsconfig`], [`framework`],
//!   [`vite`]: JavaScript and TypeScript
//! - [`python`], [`cargo_toml`] for Rust, [`go_mod`] for Go
//! - [`json`], [`object_literal`], [`glob`]: formats that several of them share

pub(crate) mod cargo_toml;
pub(crate) mod deno;
pub(crate) mod dependency;
pub(crate) mod framework;
pub(crate) mod glob;
pub(crate) mod go_mod;
pub(crate) mod json;
pub(crate) mod object_literal;
pub(crate) mod package_json;
pub(crate) mod package_targets;
pub(crate) mod python;
pub(crate) mod tsconfig;
pub(crate) mod vite;
pub(crate) mod workspace;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::resolve::manifests::cargo_toml::CargoManifest;
use crate::resolve::manifests::deno::DenoConfig;
use crate::resolve::manifests::framework::{FrameworkConfig, is_framework_config};
use crate::resolve::manifests::go_mod::GoManifest;
use crate::resolve::manifests::package_json::PackageJson;
use crate::resolve::manifests::python::PythonManifest;
use crate::resolve::manifests::tsconfig::RawConfig;
use crate::resolve::manifests::vite::{ViteConfig, is_vite_config};
use crate::resolve::manifests::workspace::Workspace;

/// Largest manifest that is read, in bytes.
pub(crate) const MAX_MANIFEST_BYTES: u64 = 1 << 20;

/// Most values in the manifests of one graph.
pub(crate) const MAX_MANIFEST_VALUES: usize = 1_000_000;

/// Each value of a manifest counts once more for every this many bytes of the manifest's path.
const BYTES_PER_VALUE: usize = 64;

/// A parsed manifest. One that cannot be parsed is [`Nothing`](ParsedManifest::Nothing) or empty.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ParsedManifest {
    Package(Arc<PackageJson>),
    Config(Box<RawConfig>),
    Framework(Box<FrameworkConfig>),
    Vite(Box<ViteConfig>),
    Workspace(Box<Workspace>),
    Deno(Box<DenoConfig>),
    Python(Box<PythonManifest>),
    Cargo(Box<CargoManifest>),
    GoModule(Box<GoManifest>),
    GoWorkspace(Box<GoManifest>),
    /// A symbolic link, and its target.
    Link(String),
    Nothing,
}

/// A kind of manifest: its file names, and its parser.
#[derive(Debug)]
struct ManifestKind {
    /// File names of this kind, without their folders. The first is an example of all of them.
    names: &'static [&'static str],
    /// Whether any other file name is of this kind.
    has_name: Option<fn(&str) -> bool>,
    /// Parses a text. Never fails: a text that cannot be parsed gives an empty manifest.
    read: fn(&str) -> ParsedManifest,
}

impl ManifestKind {
    /// The kind of manifest with exactly these file names.
    const fn named(names: &'static [&'static str], read: fn(&str) -> ParsedManifest) -> Self {
        ManifestKind {
            names,
            has_name: None,
            read,
        }
    }
}

/// Every kind of manifest, the languages in the order of [`Language`](coord_scan::Language).
const KINDS: &[ManifestKind] = &[
    // Packages, workspaces and compiler options of JavaScript and TypeScript.
    ManifestKind::named(&["package.json"], |text| {
        let manifest = PackageJson::parse(text).map(Arc::new);
        manifest.map_or(ParsedManifest::Nothing, ParsedManifest::Package)
    }),
    ManifestKind::named(&["pnpm-workspace.yaml"], |text| {
        ParsedManifest::Workspace(Box::new(Workspace::parse_pnpm(text)))
    }),
    ManifestKind::named(&["lerna.json"], |text| {
        boxed(Workspace::parse_lerna(text), ParsedManifest::Workspace)
    }),
    ManifestKind::named(&["rush.json"], |text| {
        boxed(Workspace::parse_rush(text), ParsedManifest::Workspace)
    }),
    ManifestKind::named(&["deno.json", "deno.jsonc", "import_map.json"], |text| {
        boxed(DenoConfig::parse(text), ParsedManifest::Deno)
    }),
    ManifestKind {
        names: &["tsconfig.json"],
        has_name: Some(|name: &str| {
            name.ends_with(".json") && (name.contains("tsconfig") || name.contains("jsconfig"))
        }),
        read: read_config,
    },
    ManifestKind {
        names: &["svelte.config.js"],
        has_name: Some(is_framework_config),
        read: |text| ParsedManifest::Framework(Box::new(FrameworkConfig::parse(text))),
    },
    ManifestKind {
        names: &["vite.config.js"],
        has_name: Some(is_vite_config),
        read: |text| ParsedManifest::Vite(Box::new(ViteConfig::parse(text))),
    },
    // Python projects, and tools whose configs say where Python code is.
    ManifestKind::named(&["pyproject.toml"], |text| python(PythonManifest::of_pyproject(text))),
    ManifestKind::named(&["setup.py"], |text| python(PythonManifest::of_setup(text))),
    ManifestKind {
        names: &["setup.cfg"],
        has_name: Some(|name: &str| {
            matches!(
                name.trim_start_matches('.'),
                "setup.cfg" | "pytest.ini" | "tox.ini" | "mypy.ini"
            )
        }),
        read: |text| python(PythonManifest::of_ini(text)),
    },
    ManifestKind::named(&["pyrightconfig.json"], |text| python(PythonManifest::of_pyright(text))),
    ManifestKind::named(&["ruff.toml", ".ruff.toml"], |text| {
        python(PythonManifest::of_ruff(text))
    }),
    ManifestKind::named(&["ty.toml"], |text| python(PythonManifest::of_ty(text))),
    ManifestKind::named(&["pants.toml"], |text| python(PythonManifest::of_pants(text))),
    ManifestKind::named(&["build.py"], |text| python(PythonManifest::of_build(text))),
    // Packages and workspaces of Rust.
    ManifestKind::named(&["Cargo.toml"], |text| {
        boxed(CargoManifest::parse(text), ParsedManifest::Cargo)
    }),
    // Modules and workspaces of Go.
    ManifestKind::named(&["go.mod"], |text| {
        ParsedManifest::GoModule(Box::new(GoManifest::parse(text)))
    }),
    ManifestKind::named(&["go.work"], |text| {
        ParsedManifest::GoWorkspace(Box::new(GoManifest::parse(text)))
    }),
];

fn python(manifest: PythonManifest) -> ParsedManifest {
    ParsedManifest::Python(Box::new(manifest))
}

fn read_config(text: &str) -> ParsedManifest {
    boxed(RawConfig::parse(text), ParsedManifest::Config)
}

/// `manifest` as the variant of its kind, if it was parsed.
fn boxed<T>(manifest: Option<T>, variant: fn(Box<T>) -> ParsedManifest) -> ParsedManifest {
    manifest.map_or(ParsedManifest::Nothing, |manifest| variant(Box::new(manifest)))
}

impl ParsedManifest {
    /// The number of values in it that a hostile text can have many of. In a deep folder, each counts more than once,
    /// because many become paths below that folder.
    pub(crate) fn value_count(&self, path: &str) -> usize {
        let count = match self {
            ParsedManifest::Package(manifest) => manifest.value_count(),
            ParsedManifest::Config(config) => config.value_count(),
            ParsedManifest::Workspace(workspace) => workspace.value_count(),
            ParsedManifest::Python(manifest) => manifest.value_count(),
            ParsedManifest::Cargo(manifest) => manifest.value_count(),
            ParsedManifest::GoModule(manifest) | ParsedManifest::GoWorkspace(manifest) => manifest.value_count(),
            ParsedManifest::Framework(config) => config.value_count(),
            ParsedManifest::Vite(config) => config.value_count(),
            ParsedManifest::Deno(config) => config.value_count(),
            ParsedManifest::Link(_) | ParsedManifest::Nothing => 1,
        };
        count * (1 + path.len() / BYTES_PER_VALUE)
    }

    /// Parses the text of the manifest at `path`. A file that matches no row of the table is a config that another one
    /// extends.
    pub(crate) fn read(path: &str, text: &str) -> Self {
        if text.len() as u64 > MAX_MANIFEST_BYTES {
            return ParsedManifest::Nothing;
        }
        kind_of(path).map_or(read_config as fn(&str) -> ParsedManifest, |kind| kind.read)(text)
    }
}

/// The kind of the manifest at `path`, if its name makes it one.
fn kind_of(path: &str) -> Option<&'static ManifestKind> {
    let name = path.rsplit('/').next().unwrap_or(path);
    KINDS
        .iter()
        .find(|kind| kind.names.contains(&name) || kind.has_name.is_some_and(|has_name| has_name(name)))
}

/// Whether the file at `path` is always read as a manifest.
/// [`missing_configs`](crate::resolve::projects::manifest_index::missing_configs) later finds the configs that others
/// extend.
pub fn is_manifest(path: &str) -> bool {
    kind_of(path).is_some()
}

/// A file name of each kind of manifest, for tests of all of them.
pub fn manifest_examples() -> impl Iterator<Item = &'static str> {
    KINDS.iter().filter_map(|kind| kind.names.first().copied())
}

/// The manifests of a tree by path.
pub(crate) type Manifests = BTreeMap<String, Arc<ParsedManifest>>;

/// Whether both are the same manifests, from one reading.
pub(crate) fn same_manifests(one: &Manifests, other: &Manifests) -> bool {
    one.len() == other.len()
        && one
            .iter()
            .zip(other)
            .all(|(one, other)| one.0 == other.0 && Arc::ptr_eq(one.1, other.1))
}
