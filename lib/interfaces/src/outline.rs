//! The declarations of one file -> its interface.

use std::borrow::Cow;
use std::ops::Range;

use coord_scan::meter;
use hashbrown::HashMap;
use sha1_smol::Sha1;

use super::tokens::{Kind, Tokens};
use super::{Interface, MAX_INTERFACE_NAME_BYTES, MAX_INTERFACE_NAMES};

/// Ends each token of a head.
const END: u8 = 0x1f;

/// The tokens of a declaration that others depend on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Head(Vec<u8>);

impl Head {
    /// A head of these tokens.
    pub(super) fn of(tokens: &[&[u8]]) -> Self {
        let mut head = Head::default();
        for token in tokens {
            head.push(token);
        }
        head
    }

    pub(super) fn push(&mut self, token: &[u8]) {
        meter::read(token.len() + 1);
        self.0.extend_from_slice(token);
        self.0.push(END);
    }

    /// Appends the tokens of `range`. A comma before a closing bracket does not count.
    pub(super) fn push_range(&mut self, tokens: &Tokens<'_>, range: Range<usize>) {
        for at in range {
            if tokens.kind(at) == Some(Kind::Close) && self.last() == Some(b",") {
                self.pop();
            }
            self.push(tokens.word(at));
        }
    }

    /// A head of one token that stands for all of this one.
    pub(super) fn digest(&self) -> Head {
        Head::of(&[Sha1::from(&self.0).digest().to_string().as_bytes()])
    }

    pub(super) fn append(&mut self, other: &Head) {
        meter::read(other.0.len());
        self.0.extend_from_slice(&other.0);
    }

    pub(super) fn ends_with(&self, tokens: &[&[u8]]) -> bool {
        self.0.ends_with(&Head::of(tokens).0)
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    pub(super) fn last(&self) -> Option<&[u8]> {
        let tokens = self.0.strip_suffix(&[END])?;
        let start = memchr::memrchr(END, tokens).map_or(0, |at| at + 1);
        tokens.get(start..)
    }

    /// Removes the last token.
    pub(super) fn pop(&mut self) {
        if let Some(last) = self.last() {
            self.0.truncate(self.0.len() - last.len() - 1);
        }
    }

    fn tokens(&self) -> impl Iterator<Item = &[u8]> {
        self.0.split(|byte| *byte == END)
    }
}

#[derive(Debug)]
struct Item {
    name: Vec<u8>,
    head: Head,
    is_exported: bool,
    /// Another file declares it.
    is_imported: bool,
    /// Local declarations that are exported under this name.
    alias_of: Vec<Vec<u8>>,
    is_reached: bool,
}

/// The declarations of a file, by name, in the order written.
#[derive(Debug, Default)]
pub(super) struct Outline {
    items: Vec<Item>,
    by_name: HashMap<Vec<u8>, usize>,
}

impl Outline {
    /// Adds a declaration that only counts if an exported one names it.
    pub(super) fn add_local(&mut self, name: &[u8], head: &Head) {
        self.item(name).head.append(head);
    }

    /// Adds an exported declaration.
    pub(super) fn add_exported(&mut self, name: &[u8], head: &Head) {
        self.add(name, true, head);
    }

    pub(super) fn add(&mut self, name: &[u8], is_exported: bool, head: &Head) {
        let item = self.item(name);
        // A name may have several declarations, such as a type and a value, of which only one is exported.
        if item.is_exported != is_exported && !item.head.bytes().is_empty() {
            item.head.push(if is_exported { b"exported" } else { b"local" });
        }
        item.head.append(head);
        item.is_exported |= is_exported;
    }

    /// Exports the local declaration `local` as `name`.
    pub(super) fn add_alias(&mut self, name: &[u8], local: &[u8]) {
        let item = self.item(name);
        item.is_exported = true;
        if name != local {
            item.alias_of.push(local.to_owned());
        }
    }

    pub(super) fn has(&self, name: &[u8]) -> bool {
        self.by_name.contains_key(name)
    }

    pub(super) fn has_exports(&self) -> bool {
        self.items.iter().any(|item| item.is_exported)
    }

    pub(super) fn export_if_declared(&mut self, name: &[u8]) {
        if let Some(index) = self.by_name.get(name) {
            self.items[*index].is_exported = true;
        }
    }

    /// Adds a name of another file, which only counts if an exported declaration names it.
    pub(super) fn add_imported(&mut self, name: &[u8], head: &Head) {
        let item = self.item(name);
        item.head.append(head);
        item.is_imported = true;
    }

    /// Exports every declaration of this file.
    pub(super) fn export_all(&mut self) {
        for item in self.items.iter_mut().filter(|item| !item.is_imported) {
            item.is_exported = true;
        }
    }

    fn item(&mut self, name: &[u8]) -> &mut Item {
        meter::read(name.len());
        let index = match self.by_name.get(name) {
            Some(index) => *index,
            None => {
                self.items.push(Item {
                    name: name.to_owned(),
                    head: Head::default(),
                    is_exported: false,
                    is_imported: false,
                    alias_of: Vec::new(),
                    is_reached: false,
                });
                self.by_name.insert(name.to_owned(), self.items.len() - 1);
                self.items.len() - 1
            }
        };
        &mut self.items[index]
    }

    /// The interface: exported declarations, and local ones that their heads name, directly or indirectly.
    pub(super) fn interface(mut self) -> Interface {
        self.mark_reached();
        // Each head is hashed once, so that many aliases of a large head cost no more than few.
        let heads: Vec<[u8; 20]> = self
            .items
            .iter()
            .map(|item| Sha1::from(&item.head.0).digest().bytes())
            .collect();
        let mut digests: Vec<(String, [u8; 20])> = Vec::new();
        for (item, head) in self.items.iter().zip(&heads).filter(|(item, _)| item.is_reached) {
            let mut digest = Sha1::from(head);
            if !item.is_exported {
                digest.update(b"local");
            }
            for local in item.alias_of.iter().filter_map(|local| self.by_name.get(local)) {
                digest.update(&heads[*local]);
            }
            digests.push((printable_name(&item.name).into_owned(), digest.digest().bytes()));
        }
        digests.sort_unstable();
        let mut whole = Sha1::new();
        let mut names: Vec<(String, u64)> = Vec::new();
        let (mut bytes, mut left_out) = (0, 0);
        for (name, digest) in digests {
            whole.update(name.as_bytes());
            whole.update(&[END]);
            whole.update(&digest);
            let digest = first_128_bits(&digest) as u64;
            match names.last_mut() {
                // Long names that differ only after the bytes that are kept share one entry.
                Some((last, combined)) if *last == name => *combined = combined.rotate_left(1) ^ digest,
                _ => {
                    bytes += name.len();
                    if names.len() < MAX_INTERFACE_NAMES && bytes <= MAX_INTERFACE_NAME_BYTES && left_out == 0 {
                        names.push((name, digest));
                    } else {
                        left_out += 1;
                    }
                }
            }
        }
        Interface {
            digest: first_128_bits(&whole.digest().bytes()),
            names,
            left_out,
        }
    }

    /// Marks exported declarations, and those that they name.
    fn mark_reached(&mut self) {
        let mut waiting: Vec<usize> = Vec::new();
        let mut is_followed = vec![false; self.items.len()];
        for (index, item) in self.items.iter_mut().enumerate() {
            if item.is_exported {
                item.is_reached = true;
                is_followed[index] = true;
                waiting.push(index);
            }
        }
        while let Some(index) = waiting.pop() {
            meter::read(self.items[index].head.0.len());
            let mut reached: Vec<usize> = Vec::new();
            let mut before: &[u8] = b"";
            for token in self.items[index].head.tokens() {
                // The name of a property is not a reference.
                if before != b"."
                    && let Some(item) = self.by_name.get(token)
                {
                    reached.push(*item);
                }
                before = token;
            }
            for alias in &self.items[index].alias_of {
                // Its head is part of this item's digest, so it is followed but not listed.
                if let Some(item) = self.by_name.get(alias)
                    && !std::mem::replace(&mut is_followed[*item], true)
                {
                    waiting.push(*item);
                }
            }
            for item in reached {
                self.items[item].is_reached = true;
                if !std::mem::replace(&mut is_followed[item], true) {
                    waiting.push(item);
                }
            }
        }
    }
}

fn first_128_bits(digest: &[u8; 20]) -> u128 {
    let [first @ .., _, _, _, _] = digest;
    u128::from_be_bytes(*first)
}

/// A name for people: valid UTF-8 without control characters, of at most `MAX_BYTES` bytes of the original.
fn printable_name(name: &[u8]) -> Cow<'_, str> {
    const MAX_BYTES: usize = 200;
    let text = String::from_utf8_lossy(&name[..name.len().min(MAX_BYTES)]);
    if text.chars().any(char::is_control) {
        return Cow::Owned(text.replace(char::is_control, "\u{fffd}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(outline: Outline) -> Vec<String> {
        outline.interface().names.into_iter().map(|(name, _)| name).collect()
    }

    // rule: languages#interface-local
    #[test]
    fn a_local_declaration_counts_where_an_exported_head_names_it() {
        let mut outline = Outline::default();
        outline.add_exported(b"open", &Head::of(&[b"fn", b"Options", b".", b"close"]));
        outline.add_local(b"Options", &Head::of(&[b"Mode"]));
        outline.add_local(b"Mode", &Head::of(&[b"a"]));
        outline.add_local(b"Other", &Head::of(&[b"Mode"]));
        outline.add_local(b"close", &Head::default());
        assert_eq!(names(outline), ["Mode", "Options", "open"]);
    }

    #[test]
    fn a_declaration_that_an_exported_head_names_changes_when_it_is_no_longer_exported() {
        let of = |is_exported: bool| {
            let mut outline = Outline::default();
            outline.add_exported(b"open", &Head::of(&[b"fn", b"Options"]));
            outline.add(b"Options", is_exported, &Head::of(&[b"a"]));
            outline.interface()
        };
        let (exported, local) = (of(true), of(false));
        assert_ne!(exported.digest, local.digest);
        assert_eq!(exported.names[1], local.names[1]);
        assert_ne!(exported.names[0], local.names[0]);
    }

    #[test]
    fn an_alias_has_the_head_of_the_local_declaration_and_takes_its_place() {
        let of = |head: &[u8]| {
            let mut outline = Outline::default();
            outline.add_local(b"a", &Head::of(&[head]));
            outline.add_alias(b"b", b"a");
            outline.interface()
        };
        assert_eq!(of(b"1").names[0].0, "b");
        assert_eq!(of(b"1").names.len(), 1);
        assert_ne!(of(b"1").names, of(b"2").names);
    }

    // rule: languages#interface-unknown
    #[test]
    fn names_past_the_bounds_are_counted_and_change_the_digest() {
        let of = |last: &[u8]| {
            let mut outline = Outline::default();
            for number in 0..MAX_INTERFACE_NAMES + 5 {
                outline.add_exported(format!("n{number:05}").as_bytes(), &Head::default());
            }
            outline.add_exported(b"z", &Head::of(&[last]));
            outline.interface()
        };
        let (one, other) = (of(b"1"), of(b"2"));
        assert_eq!((one.names.len(), one.left_out), (MAX_INTERFACE_NAMES, 6));
        assert_eq!(one.names, other.names);
        assert_ne!(one.digest, other.digest);
    }

    #[test]
    fn a_long_or_strange_name_is_cut_and_printable() {
        let mut outline = Outline::default();
        outline.add_exported(&[b'a'; 10_000], &Head::default());
        outline.add_exported(b"\n\t\xff", &Head::default());
        let interface = outline.interface();
        assert!(
            interface
                .names
                .iter()
                .all(|(name, _)| name.len() <= 200 && !name.contains('\n'))
        );
    }
}
