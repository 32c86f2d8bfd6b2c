//! The interface of single-file components: that of their scripts.

use super::NoInterface;
use super::javascript::read_component;
use super::outline::{Head, Outline};
use crate::scan::{Dialect, Script, code_fence, for_each_script};

/// Adds the declarations of a Vue or Svelte component. The component itself is the default export.
pub(super) fn read(text: &[u8], outline: &mut Outline) -> Result<(), NoInterface> {
    scripts(text, 0, false, outline)
}

/// Adds the declarations of an Astro component: those of its code fence, where `Props` has the properties.
pub(super) fn read_astro(text: &[u8], outline: &mut Outline) -> Result<(), NoInterface> {
    let mut markup = 0;
    if let Some((start, end)) = code_fence(text) {
        // Without the line of the closing fence.
        read_component(text, start..end, Dialect::TYPESCRIPT_JSX, outline)?;
        outline.export_where_declared(b"Props");
        markup = end;
    }
    scripts(text, markup, true, outline)
}

fn scripts(text: &[u8], position: usize, always_typed: bool, outline: &mut Outline) -> Result<(), NoInterface> {
    outline.exported(b"default", &Head::default());
    let mut read = Ok(());
    for_each_script(text, position, always_typed, |script| match script {
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
