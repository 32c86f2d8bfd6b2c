//! Parses the manifests in the records of files, each once.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::cores::lock;
use crate::file::FileId;
use crate::resolve::manifests::{MAX_MANIFEST_VALUES, Manifests, ParsedManifest};
use crate::update::begin::Update;
use crate::update::wanted_files::ContentUse;

impl Update {
    /// The manifests of this version, and the files that were not parsed because the values are past the bound.
    pub(super) fn manifests(&self) -> (Manifests, Vec<FileId>) {
        let content_uses = self.content_uses();
        let more = lock(&self.extended_configs).clone();
        let mut value_count = 0;
        let mut manifests = BTreeMap::new();
        let mut left_out = Vec::new();
        let mut fresh = lock(&self.parsed);
        for (id, (file, kind)) in (0..).zip(self.files.iter().zip(&self.kinds)) {
            if content_uses[id as usize] != ContentUse::Yes || (!kind.is_manifest && !more.contains(&id)) {
                continue;
            }
            if value_count > MAX_MANIFEST_VALUES {
                left_out.push(id);
                manifests.insert(file.path.clone(), Arc::new(ParsedManifest::Nothing));
                continue;
            }
            let Some(record) = self.records[id as usize].get() else {
                continue;
            };
            let Some(text) = &record.manifest else { continue };
            let unchanged = self.previous.as_ref().and_then(|older| {
                let old = older.records.get(self.old_id(id)? as usize)?.as_ref()?;
                older
                    .manifests
                    .get(&file.path)
                    .filter(|parsed| matches!(***parsed, ParsedManifest::Link(_)) == kind.is_link)
                    .filter(|_| old.manifest.as_ref() == Some(text))
            });
            let parsed = unchanged.unwrap_or_else(|| {
                let parse = || {
                    Arc::new(match kind.is_link {
                        true => ParsedManifest::Link(text.clone()),
                        false => ParsedManifest::read(&file.path, text),
                    })
                };
                fresh.entry(id).or_insert_with(parse)
            });
            let parsed = Arc::clone(parsed);
            value_count += parsed.value_count(&file.path);
            manifests.insert(file.path.clone(), parsed);
        }
        (manifests, left_out)
    }
}
