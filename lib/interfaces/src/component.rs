//! The interface of single-file components, which comes from their scripts.

use coord_scan::{Dialect, Language, Script, code_fence, for_each_script};

use super::InterfaceUnknown;
use super::javascript::read_component;
use super::outline::{Head, Outline};

/// Adds the declarations of a component in `language`, and the component itself as the default export. Astro's code
/// fence counts too: its `Props` declares the properties.
pub(super) fn read(language: Language, text: &[u8], outline: &mut Outline) -> Result<(), InterfaceUnknown> {
    if let Some((start, end)) = code_fence(text).filter(|_| language == Language::Astro) {
        // Without the line of the closing fence.
        read_component(text, start..end, Dialect::TYPESCRIPT_JSX, outline)?;
        outline.export_if_declared(b"Props");
    }
    outline.add_exported(b"default", &Head::default());
    let mut result = Ok(());
    for_each_script(language, text, |script| match script {
        Script::External(source) => {
            let source = text.get(source).unwrap_or_default();
            outline.add_exported(&[b"import ", source].concat(), &Head::default());
        }
        Script::Inline(dialect, range) => {
            if result.is_ok() {
                result = read_component(text, range, dialect, outline);
            }
        }
    });
    result
}
