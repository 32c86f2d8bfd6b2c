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
const BYTES_FOR_VALUE: usize = 64;

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
struct ManifestForm {
    /// File names of this kind, without their folders. The first is an example of all of them.
    names: &'static [&'static str],
    /// Whether any other file name is of this kind.
    has_name: Option<fn(&str) -> bool>,
    /// Parses a text. Never fails: a text that cannot be parsed gives an empty manifest.
    read: fn(&str) -> ParsedManifest,
}

impl ManifestForm {
    /// The kind of manifest with exactly these file names.
    const fn named(names: &'static [&'static str], read: fn(&str) -> ParsedManifest) -> Self {
        ManifestForm {
            names,
            has_name: None,
            read,
        }
    }
}

/// Every kind of manifest, the languages in the order of [`Language`](coord_scan::Language).
const FORMS: &[ManifestForm] = &[
    // Packages, workspaces and compiler options of JavaScript and TypeScript.
    ManifestForm::named(&["package.json"], |text| {
        let manifest = PackageJson::parse(text).map(Arc::new);
        manifest.map_or(ParsedManifest::Nothing, ParsedManifest::Package)
    }),
    ManifestForm::named(&["pnpm-workspace.yaml"], |text| {
        ParsedManifest::Workspace(Box::new(Workspace::parse_pnpm(text)))
    }),
    ManifestForm::named(&["lerna.json"], |text| {
        boxed(Workspace::parse_lerna(text), ParsedManifest::Workspace)
    }),
    ManifestForm::named(&["rush.json"], |text| {
        boxed(Workspace::parse_rush(text), ParsedManifest::Workspace)
    }),
    ManifestForm::named(&["deno.json", "deno.jsonc", "import_map.json"], |text| {
        boxed(DenoConfig::parse(text), ParsedManifest::Deno)
    }),
    ManifestForm {
        names: &["tsconfig.json"],
        has_name: Some(|name: &str| {
            name.ends_with(".json") && (name.contains("tsconfig") || name.contains("jsconfig"))
        }),
        read: read_config,
    },
    ManifestForm {
        names: &["svelte.config.js"],
        has_name: Some(is_framework_config),
        read: |text| ParsedManifest::Framework(Box::new(FrameworkConfig::parse(text))),
    },
    ManifestForm {
        names: &["vite.config.js"],
        has_name: Some(is_vite_config),
        read: |text| ParsedManifest::Vite(Box::new(ViteConfig::parse(text))),
    },
    // Python projects, and tools whose configs say where Python code is.
    ManifestForm::named(&["pyproject.toml"], |text| python(PythonManifest::of_pyproject(text))),
    ManifestForm::named(&["setup.py"], |text| python(PythonManifest::of_setup(text))),
    ManifestForm {
        names: &["setup.cfg"],
        has_name: Some(|name: &str| {
            matches!(
                name.trim_start_matches('.'),
                "setup.cfg" | "pytest.ini" | "tox.ini" | "mypy.ini"
            )
        }),
        read: |text| python(PythonManifest::of_ini(text)),
    },
    ManifestForm::named(&["pyrightconfig.json"], |text| python(PythonManifest::of_pyright(text))),
    ManifestForm::named(&["ruff.toml", ".ruff.toml"], |text| {
        python(PythonManifest::of_ruff(text))
    }),
    ManifestForm::named(&["ty.toml"], |text| python(PythonManifest::of_ty(text))),
    ManifestForm::named(&["pants.toml"], |text| python(PythonManifest::of_pants(text))),
    ManifestForm::named(&["build.py"], |text| python(PythonManifest::of_build(text))),
    // Packages and workspaces of Rust.
    ManifestForm::named(&["Cargo.toml"], |text| {
        boxed(CargoManifest::parse(text), ParsedManifest::Cargo)
    }),
    // Modules and workspaces of Go.
    ManifestForm::named(&["go.mod"], |text| {
        ParsedManifest::GoModule(Box::new(GoManifest::parse(text)))
    }),
    ManifestForm::named(&["go.work"], |text| {
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
        count * (1 + path.len() / BYTES_FOR_VALUE)
    }

    /// Parses the text of the manifest at `path`. A file that matches no row of the table is a config that another one
    /// extends.
    pub(crate) fn read(path: &str, text: &str) -> Self {
        if text.len() as u64 > MAX_MANIFEST_BYTES {
            return ParsedManifest::Nothing;
        }
        form_of(path).map_or(read_config as fn(&str) -> ParsedManifest, |form| form.read)(text)
    }
}

/// The form of the manifest at `path`, if its name makes it one.
fn form_of(path: &str) -> Option<&'static ManifestForm> {
    let name = path.rsplit('/').next().unwrap_or(path);
    FORMS
        .iter()
        .find(|form| form.names.contains(&name) || form.has_name.is_some_and(|has_name| has_name(name)))
}

/// Whether the file at `path` is always read as a manifest.
/// [`missing_configs`](crate::resolve::projects::manifest_index::missing_configs) later finds the configs that others
/// extend.
pub fn is_manifest(path: &str) -> bool {
    form_of(path).is_some()
}

/// A file name of each kind of manifest, for tests of all of them.
pub fn manifest_examples() -> impl Iterator<Item = &'static str> {
    FORMS.iter().filter_map(|form| form.names.first().copied())
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
