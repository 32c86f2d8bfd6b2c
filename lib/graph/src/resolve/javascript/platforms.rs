//! Files that a bundler takes for one platform. Metro for React Native, for example, takes `x.ios.ts` before `x.ts`.

use crate::file::FileId;
use crate::resolve::extension::Extension;
use crate::resolve::javascript::files::SCRIPT;
use crate::resolve::javascript::importer::Importer;

const NATIVE: &str = ".native";
const WEB: &str = ".web";
const PLATFORMS: [&str; 6] = [".ios", ".android", NATIVE, WEB, ".windows", ".macos"];

impl Importer<'_> {
    /// The variants of `path`, with or without its extension, if no file has exactly this name. All after the first are
    /// further targets.
    pub(super) fn load_platforms(&mut self, path: &str) -> Option<FileId> {
        let stem = Extension::split(path).map_or(path, |(stem, _)| stem);
        let mut variants = self.variants(stem).into_iter();
        let first = variants.next()?;
        self.more_targets.extend(variants);
        Some(first)
    }

    /// Adds the variants of `file` to the further targets, where the package is for React Native.
    pub(super) fn add_variants(&mut self, file: FileId) {
        let table = self.table;
        let is_native = self
            .context
            .package
            .as_ref()
            .is_some_and(|package| package.manifest.is_native);
        if is_native && let Some((stem, _)) = Extension::split(table.path(file)) {
            let variants = self.variants(stem);
            self.more_targets.extend(variants);
        }
    }

    /// The variants of `stem`. If the importer is for one platform, only those for its platform.
    fn variants(&mut self, stem: &str) -> Vec<FileId> {
        let own =
            Extension::split(self.from).and_then(|(from, _)| PLATFORMS.into_iter().find(|end| from.ends_with(end)));
        let is_compatible = |platform: &str| match own {
            None => true,
            Some(NATIVE) => platform != WEB,
            Some(own) => platform == own || (platform == NATIVE && own != WEB),
        };
        let platforms = PLATFORMS.into_iter().filter(|platform| is_compatible(platform));
        platforms
            .filter_map(|platform| {
                self.table
                    .siblings(&format!("{stem}{platform}"), self.trace)?
                    .first(SCRIPT)
            })
            .collect()
    }
}
