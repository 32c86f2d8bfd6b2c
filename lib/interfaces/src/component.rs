//! The interface of single-file components: that of their scripts.

use coord_scan::{Dialect, Language, Script, code_fence, for_each_script};

use super::InterfaceUnknown;
use super::javascript::read_component;
use super::outline::{Head, Outline};

/// Adds the declarations of a component in `language`, which itself is the default export. The code fence of Astro counts too;
/// there, `Props` has the properties.
pub(super) fn read(language: Language, text: &[u8], outline: &mut Outline) -> Result<(), InterfaceUnknown> {
    if let Some((start, end)) = code_fence(text).filter(|_| language == Language::Astro) {
        // Without the line of the closing fence.
        read_component(text, start..end, Dialect::TYPESCRIPT_JSX, outline)?;
        outline.export_where_declared(b"Props");
    }
    outline.exported(b"default", &Head::default());
    let mut read = Ok(());
    for_each_script(language, text, |script| match script {
        Script::Elsewhere(source) => {
            let source = text.get(source).unwrap_or_default();
            outline.exported(&[b"import ", source].concat(), &Head::default());
        }
        Script::Inline(dialect, range) => {
            if read.is_ok() {
                read = read_component(text, range, dialect, outline);
            }
        }
    });
    read
}
