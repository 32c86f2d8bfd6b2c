//! A JavaScript or TypeScript file whose specifiers are resolved.

use crate::file::FileId;
use crate::resolve::extension::Extension;
use crate::resolve::keys::Trace;
use crate::resolve::manifests::tsconfig::Mode;
use crate::resolve::path_table::PathTable;
use crate::resolve::projects::Projects;
use crate::resolve::projects::context::Context;

/// The form of an import, as far as files depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Form {
    #[default]
    Import,
    Require,
    /// An import statement of a CommonJS file, which stands for `require()`.
    CommonJsImport,
}

/// The importing file, and the context that governs it.
pub(crate) struct Importer<'a> {
    pub(crate) table: &'a PathTable,
    pub(crate) projects: &'a Projects,
    pub(crate) context: &'a Context,
    pub(crate) from: &'a str,
    pub(crate) trace: &'a mut Trace,
    /// A buffer for candidate paths, so that most lookups need no allocation.
    pub(crate) buffer: &'a mut String,
    /// The form of the specifier that is resolved.
    pub(crate) form: Form,
    /// The targets of the specifier after the first.
    pub(crate) more_targets: Vec<FileId>,
}

impl Importer<'_> {
    /// Whether the file is CommonJS, so that its import statements stand for `require()`. Its extension decides; if it
    /// is ambiguous, the nearest `package.json` does, in the modes in which TypeScript reads it for this purpose.
    pub(super) fn is_common_js(&self) -> bool {
        let Some((_, extension)) = Extension::split(self.from) else {
            return false;
        };
        match extension {
            Extension::Cts | Extension::Dcts | Extension::Cjs => true,
            Extension::Ts | Extension::Tsx | Extension::Dts | Extension::Js | Extension::Jsx => {
                let options = self.context.options.as_deref();
                let package = self.context.package.as_deref();
                options.is_some_and(|options| options.mode == Mode::Node)
                    && !package.is_some_and(|package| package.manifest.is_module)
            }
            Extension::Mts | Extension::Dmts | Extension::Mjs | Extension::Py | Extension::Pyi => false,
        }
    }
}
