//! The record of one file between builds, and its text form in the store.

use coord_interfaces::{InterfaceResult, stored};
use coord_scan::{BYTES_PER_WEIGHT, FileState, ImportKind, Specifier, Weighted};

/// Incremented when scanners find other imports in the same text, so that older records are not used.
const SCAN_VERSION: u32 = 6;

/// The result of reading one file. It belongs to the content, so that a renamed file keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Id of the blob that was read, hex.
    pub blob: String,
    /// How much of it could be read.
    pub state: FileState,
    /// Size in bytes; 0 where it is not known.
    pub size: u64,
    /// All imports, in the order written.
    pub specifiers: Vec<Specifier>,
    /// Its interface, or why that is unknown; `None` if it was not requested
    /// ([`Limits::interfaces`](crate::Limits::interfaces)).
    pub interface: Option<InterfaceResult>,
    /// The text, where the file is a manifest.
    pub manifest: Option<String>,
}

const KINDS: [(ImportKind, char); 15] = [
    (ImportKind::Import, 'i'),
    (ImportKind::ExportFrom, 'e'),
    (ImportKind::Type, 't'),
    (ImportKind::Dynamic, 'd'),
    (ImportKind::Require, 'r'),
    (ImportKind::RequireResolve, 's'),
    (ImportKind::Url, 'u'),
    (ImportKind::Mock, 'm'),
    (ImportKind::JsDoc, 'j'),
    (ImportKind::Reference, 'f'),
    (ImportKind::Module, 'o'),
    (ImportKind::Path, 'p'),
    (ImportKind::Constraint, 'c'),
    (ImportKind::Amd, 'a'),
    (ImportKind::Glob, 'g'),
];

impl Record {
    /// The memory of its imports, in units of a short import.
    pub(super) fn weight(&self) -> usize {
        let names = self.interface.iter().flatten().flat_map(|interface| &interface.names);
        let imports = self.specifiers.iter().map(Weighted::weight);
        imports
            .chain(names.map(|(name, _)| 1 + name.len() / BYTES_PER_WEIGHT))
            .sum()
    }

    /// The text form. The first line is `VERSION BLOB STATE SIZE`. Each specifier is a line `kLINE TEXT` or `kLINE
    /// TEXT<tab>NAME`: `k` is a letter for the kind, and backslash, tab and newline are escaped. An interface has a
    /// line `I` and one for each name. A manifest has a line `M` and its text.
    pub fn encode(&self) -> String {
        use std::fmt::Write;
        let mut out = String::with_capacity(64 + self.specifiers.len() * 24);
        // Writing to a String never fails.
        let _ = writeln!(out, "{SCAN_VERSION} {} {} {}", self.blob, self.state.name(), self.size);
        for specifier in &self.specifiers {
            let letter = KINDS
                .iter()
                .find(|(kind, _)| *kind == specifier.kind)
                .map_or('i', |(_, letter)| *letter);
            let _ = write!(out, "{letter}{} ", specifier.line);
            escape(&specifier.text, &mut out);
            if let Some(name) = &specifier.name {
                out.push('\t');
                escape(name, &mut out);
            }
            out.push('\n');
        }
        if let Some(interface) = &self.interface {
            stored::encode(interface, &mut out);
        }
        if let Some(manifest) = &self.manifest {
            out.push_str("M\n");
            out.push_str(manifest);
        }
        out
    }

    /// Parses [`Self::encode`]'s text. `None` for any other text or another [`SCAN_VERSION`]: the caller then scans the
    /// file again.
    pub fn decode(text: &str) -> Option<Self> {
        let (head, mut rest) = text.split_once('\n')?;
        let mut fields = head.split(' ');
        if fields.next()?.parse() != Ok(SCAN_VERSION) {
            return None;
        }
        let blob = fields.next().filter(|blob| !blob.is_empty())?.to_owned();
        let state_name = fields.next()?;
        let state = FileState::ALL.into_iter().find(|state| state.name() == state_name)?;
        let size = fields.next()?.parse().ok()?;
        if fields.next().is_some() {
            return None;
        }
        let mut record = Record {
            blob,
            state,
            size,
            specifiers: Vec::new(),
            interface: None,
            manifest: None,
        };
        while !rest.is_empty() {
            if let Some(interface) = rest.strip_prefix(stored::LETTER) {
                (record.interface, rest) = stored::decode(interface)?;
                continue;
            }
            let (line, after) = rest.split_once('\n')?;
            rest = after;
            if line == "M" {
                record.manifest = Some(rest.to_owned());
                break;
            }
            record.specifiers.push(decode_specifier(line)?);
        }
        Some(record)
    }
}

/// The imports in `record`; none without a record.
pub(crate) fn specifiers_of(record: Option<&Record>) -> &[Specifier] {
    record.map_or(&[][..], |record| &record.specifiers)
}

fn decode_specifier(line: &str) -> Option<Specifier> {
    let mut characters = line.chars();
    let first = characters.next()?;
    let (kind, _) = KINDS.iter().find(|(_, letter)| *letter == first)?;
    let (number, text) = characters.as_str().split_once(' ')?;
    let (text, name) = match text.split_once('\t') {
        Some((text, name)) => (text, Some(unescape(name)?)),
        None => (text, None),
    };
    Some(Specifier {
        text: unescape(text)?,
        name,
        kind: *kind,
        line: number.parse().ok()?,
    })
}

fn escape(text: &str, out: &mut String) {
    for character in text.chars() {
        match character {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            other => out.push(other),
        }
    }
}

fn unescape(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        out.push(match character {
            '\\' => match characters.next()? {
                '\\' => '\\',
                'n' => '\n',
                't' => '\t',
                _ => return None,
            },
            other => other,
        });
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use coord_interfaces::stored::INTERFACE_VERSION;
    use coord_interfaces::{Interface, InterfaceUnknown};

    fn any_record() -> impl Strategy<Value = Record> {
        let kind = proptest::sample::select(KINDS.map(|(kind, _)| kind).to_vec());
        let specifier = (
            any::<String>(),
            proptest::option::of(any::<String>()),
            kind,
            any::<u32>(),
        )
            .prop_map(|(text, name, kind, line)| Specifier { text, name, kind, line });
        let interface = (
            any::<u128>(),
            proptest::collection::vec(("[^\\n]{0,20}", any::<u64>()), 0..4),
            any::<u32>(),
        )
            .prop_map(|(digest, names, left_out)| Interface {
                digest,
                names,
                left_out,
            });
        let interface = prop_oneof![
            interface.prop_map(Ok),
            proptest::sample::select(InterfaceUnknown::ALL.to_vec()).prop_map(Err),
        ];
        (
            "[0-9a-f]{40}",
            proptest::sample::select(FileState::ALL.to_vec()),
            any::<u64>(),
            proptest::collection::vec(specifier, 0..8),
            proptest::option::of(interface),
            proptest::option::of("(?s).{0,80}"),
        )
            .prop_map(|(blob, state, size, specifiers, interface, manifest)| Record {
                blob,
                state,
                size,
                specifiers,
                interface,
                manifest,
            })
    }

    proptest! {
        #[test]
        fn a_record_survives_the_store(record in any_record()) {
            prop_assert_eq!(Record::decode(&record.encode()), Some(record));
        }

        #[test]
        fn any_text_is_read_or_refused_without_a_panic(text in "(?s).{0,200}") {
            let _ = Record::decode(&text);
            let _ = Record::decode(&format!("{SCAN_VERSION} ab ok 1\n{text}"));
        }
    }

    #[test]
    fn a_record_of_another_version_is_not_used() {
        let decoded = |version: u32, rest: &str| Record::decode(&format!("{version} {rest}"));
        assert!(decoded(SCAN_VERSION, "ab ok 3\n").is_some());
        assert_eq!(decoded(SCAN_VERSION - 1, "ab ok 3\n"), None);
        assert_eq!(decoded(SCAN_VERSION, "ab fine 3\n"), None);
    }

    #[test]
    fn of_an_interface_of_another_version_the_rest_of_the_record_is_used() {
        let decoded = |rest: &str| Record::decode(&format!("{SCAN_VERSION} ab ok 3\n{rest}"));
        for line in ["I0 00ff 0 1\n00ff name\n", "I0 - for_a_reason\n"] {
            let record = decoded(&format!("{line}i1 ./a\n")).expect("a record");
            assert_eq!((record.interface, record.specifiers.len()), (None, 1), "{line}");
        }
        assert_eq!(decoded(&format!("I{INTERFACE_VERSION} - for_a_reason\n")), None);
        assert_eq!(decoded(&format!("I{INTERFACE_VERSION} 00ff 0 2\n00ff name\n")), None);
    }
}
