//! A class, as far as it has been read.

use std::collections::BTreeSet;

use crate::outline::Head;

#[derive(Debug)]
pub(super) struct Class<'t> {
    pub(super) name: &'t [u8],
    /// Decorators and parents.
    parents: Head,
    members: Head,
    /// The attributes that `__init__` sets, in any order.
    attributes: BTreeSet<Vec<u8>>,
}

impl<'t> Class<'t> {
    pub(super) fn new(name: &'t [u8], parents: Head) -> Self {
        Class {
            name,
            parents,
            members: Head::default(),
            attributes: BTreeSet::new(),
        }
    }

    /// Adds a method, an attribute or a nested class.
    pub(super) fn add_member(&mut self, name: &[u8], head: &Head) {
        if is_public(name) {
            self.members.push(&[b".", name].concat());
            self.members.append(head);
        }
    }

    /// Adds an attribute that `__init__` sets, with its annotation.
    pub(super) fn add_attribute(&mut self, name: &[u8], annotation: &Head) {
        if is_public(name) {
            self.attributes
                .insert([b"self.", name, b" ", annotation.bytes()].concat());
        }
    }

    pub(super) fn head(&self) -> Head {
        let mut head = self.parents.clone();
        head.append(&self.members);
        for attribute in &self.attributes {
            head.push(attribute);
        }
        head
    }
}

/// Whether a member of a class is public: its name has no leading underscore, or is a special name such as `__call__`.
pub(super) fn is_public(name: &[u8]) -> bool {
    !name.starts_with(b"_") || name.len() > 4 && name.starts_with(b"__") && name.ends_with(b"__")
}
