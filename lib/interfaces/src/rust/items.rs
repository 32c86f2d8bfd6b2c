//! Items, and their heads.

use std::ops::Range;

use hashbrown::HashSet;

use crate::outline::{Head, Outline};
use crate::tokens::{Kind, Tokens};

/// Attributes that change nothing for others.
const SILENT: [&[u8]; 11] = [
    b"doc",
    b"allow",
    b"expect",
    b"warn",
    b"deny",
    b"forbid",
    b"inline",
    b"cold",
    b"rustfmt",
    b"clippy",
    b"track_caller",
];

/// Items to read: those of the file, or of a module in it.
struct Module {
    range: Range<usize>,
    /// `outer::inner::`
    prefix: Vec<u8>,
    /// The private module that contains them, if any: they count if an exported head names that module.
    private_module: Option<Vec<u8>>,
}

pub(super) struct Reader<'a, 't> {
    tokens: &'a Tokens<'t>,
    /// Modules that are still to be read.
    modules: Vec<Module>,
    declared_names: HashSet<&'t [u8]>,
    /// Implementations, by the name of the type.
    implementations: Vec<(Vec<u8>, Head)>,
}

impl<'a, 't> Reader<'a, 't> {
    pub(super) fn new(tokens: &'a Tokens<'t>) -> Self {
        Reader {
            tokens,
            modules: Vec::new(),
            declared_names: HashSet::new(),
            implementations: Vec::new(),
        }
    }

    pub(super) fn read(mut self, outline: &mut Outline) {
        self.modules.push(Module {
            range: 0..self.tokens.len(),
            prefix: Vec::new(),
            private_module: None,
        });
        while let Some(module) = self.modules.pop() {
            let mut at = module.range.start;
            while at < module.range.end {
                at = self.item(at, &module, outline).max(at + 1);
            }
        }
        for (name, head) in &self.implementations {
            // Users of a type from another file get these implementations too, so they are exported.
            outline.add(name, !self.declared_names.contains(&name[..]), head);
        }
    }

    fn word(&self, at: usize) -> &'t [u8] {
        self.tokens.word(at)
    }

    fn is_open(&self, at: usize, bracket: &[u8]) -> bool {
        self.tokens.kind(at) == Some(Kind::Open) && self.word(at) == bracket
    }

    /// Reads the item at `start`. Returns the index after it.
    fn item(&mut self, start: usize, module: &Module, outline: &mut Outline) -> usize {
        let end = module.range.end;
        let mut attributes = Head::default();
        let mut at = start;
        let mut is_test = false;
        let mut exports_macro = false;
        while self.word(at) == b"#" {
            let open = at + 1 + usize::from(self.word(at + 1) == b"!");
            if !self.is_open(open, b"[") {
                return at + 1;
            }
            let name = self.word(open + 1);
            is_test |= self.is_test(open);
            exports_macro |= name == b"macro_export";
            if !SILENT.contains(&name) && open == at + 1 {
                attributes.push_range(self.tokens, at..self.tokens.after(open));
            }
            at = self.tokens.after(open);
        }
        let (is_public, mut keyword) = self.visibility(at);
        let close = self.item_end(keyword, end);
        if is_test {
            return close;
        }
        let mut head = attributes;
        head.push_range(self.tokens, at..keyword);
        while matches!(
            self.word(keyword),
            b"default" | b"unsafe" | b"async" | b"const" | b"extern" | b"safe"
        ) && self.is_qualifier(keyword)
        {
            let next = keyword + 1 + usize::from(self.tokens.kind(keyword + 1) == Some(Kind::Text));
            head.push_range(self.tokens, keyword..next);
            keyword = next;
        }
        let name = keyword + 1 + usize::from(self.word(keyword) == b"static" && self.word(keyword + 1) == b"mut");
        match self.word(keyword) {
            b"fn" => {
                self.write_function(keyword, close, &mut head);
                self.declare(name, is_public, &head, module, outline);
            }
            b"struct" | b"union" if self.tokens.is_name(name) => {
                self.write_struct(keyword, close, &mut head);
                self.declare(name, is_public, &head, module, outline);
            }
            b"trait" => {
                self.write_members(keyword, close, true, &mut head);
                self.declare(name, is_public, &head, module, outline);
            }
            b"enum" | b"type" | b"auto" | b"macro" => {
                head.push_range(self.tokens, keyword..close);
                self.declare(name, is_public, &head, module, outline);
            }
            b"const" | b"static" => {
                let equals = (keyword..close).find(|at| self.word(*at) == b"=").unwrap_or(close);
                head.push_range(self.tokens, keyword..equals);
                self.declare(name, is_public, &head, module, outline);
            }
            b"mod" => self.module(keyword, is_public, &head, module, outline),
            b"use" | b"extern" => self.import(keyword, close, is_public, &mut head, module, outline),
            b"impl" => self.implementation(keyword, close, head),
            b"macro_rules" => {
                head.push_range(self.tokens, keyword..close);
                self.declare(keyword + 2, exports_macro, &head, module, outline);
            }
            _ if self.tokens.is_name(keyword) => {
                // The output of a macro call is unknown.
                head.push_range(self.tokens, keyword..close);
                let mut call = self.word(keyword).to_owned();
                call.push(b'!');
                outline.add(&call, module.private_module.is_none(), &head);
            }
            _ => {}
        }
        close
    }

    /// Whether the attribute in the bracket at `open` is `cfg(test)` or `test`.
    fn is_test(&self, open: usize) -> bool {
        let (name, inside) = (self.word(open + 1), open + 3);
        name == b"test" || name == b"cfg" && self.word(inside) == b"test" && self.word(inside + 1) == b")"
    }

    /// Whether the item at `at` is visible outside of the file, and the index after its visibility.
    fn visibility(&self, at: usize) -> (bool, usize) {
        if self.word(at) != b"pub" {
            return (false, at);
        }
        if self.is_open(at + 1, b"(") && matches!(self.word(at + 2), b"crate" | b"super" | b"self" | b"in") {
            let scope = self.word(at + 2);
            let is_private = scope == b"self" || scope == b"in" && self.word(at + 3) == b"self";
            return (!is_private, self.tokens.after(at + 1));
        }
        (true, at + 1)
    }

    fn is_qualifier(&self, at: usize) -> bool {
        let next = at + 1 + usize::from(self.tokens.kind(at + 1) == Some(Kind::Text));
        matches!(
            self.word(next),
            b"fn" | b"unsafe" | b"async" | b"const" | b"extern" | b"trait" | b"impl" | b"mod" | b"auto" | b"safe"
        ) && !(self.word(at) == b"extern" && self.word(next) == b"mod")
    }

    /// The end of the item whose first word is at `start`: after its block or its semicolon.
    fn item_end(&self, start: usize, end: usize) -> usize {
        let is_value = matches!(self.word(start), b"const" | b"static" | b"type" | b"use") && !self.is_qualifier(start);
        let mut at = start;
        while at < end {
            if self.word(at) == b";" {
                return at + 1;
            }
            // The braces of a constant argument, `<{ N }>`, do not end an item.
            let is_block =
                self.is_open(at, b"{") && !matches!(self.word(at - usize::from(at > start)), b"<" | b"," | b"=");
            at = self.tokens.after(at);
            if is_block && !is_value {
                return at;
            }
        }
        at.min(end)
    }

    /// Writes the head of the function whose `fn` is at `at`.
    fn write_function(&self, at: usize, close: usize, head: &mut Head) {
        for at in at..self.body_start(close).max(at) {
            // Whether a parameter is mutable does not concern callers.
            let is_mutable_parameter = self.word(at) == b"mut" && matches!(self.word(at - 1), b"(" | b",");
            if !is_mutable_parameter {
                head.push_range(self.tokens, at..at + 1);
            }
        }
    }

    /// The index of the brace of the item that ends before `close`, or of its last token if it has no braces.
    fn body_start(&self, close: usize) -> usize {
        if self.word(close - 1) == b"}" {
            self.tokens.partner(close - 1)
        } else {
            close - 1
        }
    }

    fn declare(&mut self, name: usize, is_public: bool, head: &Head, module: &Module, outline: &mut Outline) {
        let name = self.word(name);
        if module.prefix.is_empty() {
            self.declared_names.insert(name);
        }
        match &module.private_module {
            Some(private) if is_public => {
                outline.add_local(private, &Head::of(&[b".", name]));
                outline.add_local(private, head);
            }
            Some(_) => {}
            None => outline.add(&[&module.prefix, name].concat(), is_public, head),
        }
    }

    /// Writes the struct whose `struct` is at `at`: its public fields, and whether it has others.
    fn write_struct(&self, at: usize, close: usize, head: &mut Head) {
        let fields = (at..close).find(|at| self.is_open(*at, b"{") || self.is_open(*at, b"("));
        let Some(fields) = fields else {
            return head.push_range(self.tokens, at..close);
        };
        head.push_range(self.tokens, at..fields + 1);
        let is_tuple = self.word(fields) == b"(";
        let inside = fields + 1..self.tokens.partner(fields);
        let mut has_private = false;
        let mut start = inside.start;
        while start < inside.end {
            let field_end = self.field_end(start, inside.end);
            let mut field = start;
            while self.word(field) == b"#" {
                field = self.tokens.after(field + 1);
            }
            if self.visibility(field).0 {
                head.push_range(self.tokens, field..field_end);
                head.push(b",");
            } else if is_tuple {
                head.push(b"_");
            } else {
                has_private = true;
            }
            start = field_end + 1;
        }
        if has_private {
            head.push(b"..");
        }
        head.push_range(self.tokens, inside.end..close);
    }

    /// The comma that ends the field at `start`.
    fn field_end(&self, start: usize, end: usize) -> usize {
        let mut depth = 0_usize;
        let mut at = start;
        while at < end {
            match self.word(at) {
                b"<" => depth += 1,
                b">" => depth = depth.saturating_sub(1),
                b"," if depth == 0 => return at,
                _ => {}
            }
            at = self.tokens.after(at);
        }
        end
    }

    /// Writes a trait or an implementation: its head, and the heads of its public members, or of all members.
    fn write_members(&self, at: usize, close: usize, includes_private: bool, head: &mut Head) {
        if self.word(close - 1) != b"}" {
            return head.push_range(self.tokens, at..close);
        }
        let open = self.tokens.partner(close - 1);
        head.push_range(self.tokens, at..open);
        let end = close - 1;
        let mut at = open + 1;
        while at < end {
            let start = at;
            while self.word(at) == b"#" {
                let after = self.tokens.after(at + 1);
                if includes_private && !SILENT.contains(&self.word(at + 2)) {
                    head.push_range(self.tokens, at..after);
                }
                at = after;
            }
            let (is_public, keyword) = self.visibility(at);
            let close = self.item_end(keyword, end).max(start + 1);
            if is_public || includes_private {
                let is_function = (keyword..close).take(8).any(|at| self.word(at) == b"fn");
                if is_function {
                    self.write_function(at, close, head);
                    // Implementations of a trait may omit a method that has a body.
                    head.push(if self.word(close - 1) == b"}" { b"{}" } else { b";" });
                } else {
                    let equals = (keyword..close).find(|at| self.word(*at) == b"=" && self.word(keyword) == b"const");
                    head.push_range(self.tokens, at..equals.unwrap_or(close));
                    head.push(b";");
                }
            }
            at = close;
        }
    }

    fn implementation(&mut self, at: usize, close: usize, attributes: Head) {
        let body = self.body_start(close);
        let stop = (at..body).find(|at| self.word(*at) == b"where").unwrap_or(body);
        let for_keyword = self.find_for(at, stop);
        let mut head = attributes;
        if for_keyword.is_some() {
            // The implementation of a trait chooses types and constants; the trait has the heads of functions.
            head.push_range(self.tokens, at..body);
            let mut member = body + 1;
            while member < close.saturating_sub(1) {
                let end = self.item_end(member, close - 1).max(member + 1);
                if matches!(self.word(member), b"type" | b"const") && !self.is_qualifier(member) {
                    head.push_range(self.tokens, member..end);
                }
                member = end;
            }
        } else {
            self.write_members(at, close, false, &mut head);
        }
        let type_start = for_keyword.map_or(at, |keyword| keyword + 1);
        let name = self.type_name(type_start, stop, for_keyword.is_none());
        self.implementations.push((name, head));
    }

    /// The `for` of `impl Trait for Type`.
    fn find_for(&self, start: usize, end: usize) -> Option<usize> {
        let mut at = start;
        while at < end {
            if self.word(at) == b"for" && self.word(at + 1) != b"<" {
                return Some(at);
            }
            at = self.tokens.after(at);
        }
        None
    }

    /// The last name of the type's path, before its arguments. `follows_impl`: the path comes after the `impl<...>` at
    /// `start`.
    fn type_name(&self, start: usize, end: usize, follows_impl: bool) -> Vec<u8> {
        let mut at = start + usize::from(follows_impl);
        if follows_impl && self.word(at) == b"<" {
            let mut depth = 0_usize;
            while at < end {
                match self.word(at) {
                    b"<" => depth += 1,
                    b">" => depth = depth.saturating_sub(1),
                    _ => {}
                }
                at = self.tokens.after(at);
                if depth == 0 {
                    break;
                }
            }
        }
        let mut name: &[u8] = b"";
        while at < end && self.word(at) != b"<" {
            if self.tokens.is_name(at) && !matches!(self.word(at), b"dyn" | b"mut" | b"const") {
                name = self.word(at);
            }
            at += 1;
        }
        if name.is_empty() {
            b"impl".to_vec()
        } else {
            name.to_owned()
        }
    }

    fn module(&mut self, at: usize, is_public: bool, attributes: &Head, module: &Module, outline: &mut Outline) {
        let name = self.word(at + 1);
        self.declare(at + 1, is_public, attributes, module, outline);
        if !self.is_open(at + 2, b"{") {
            return;
        }
        let private_module = match &module.private_module {
            Some(private) => Some(private.clone()),
            None if is_public => None,
            None => Some([&module.prefix, name].concat()),
        };
        self.modules.push(Module {
            range: at + 3..self.tokens.partner(at + 2),
            prefix: [&module.prefix, name, b"::"].concat(),
            private_module,
        });
    }

    fn import(
        &mut self,
        at: usize,
        close: usize,
        is_public: bool,
        head: &mut Head,
        module: &Module,
        outline: &mut Outline,
    ) {
        if self.word(at) == b"extern" && self.word(at + 1) != b"crate" {
            // `extern "C" { pub fn ... }`
            self.write_members(at, close, false, head);
            outline.add(b"extern", module.private_module.is_none(), head);
            return;
        }
        if !is_public {
            return;
        }
        head.push_range(self.tokens, at..close);
        let mut name = b"use ".to_vec();
        for at in (at + 1..close.saturating_sub(1)).take(40) {
            let needs_space =
                name.last().is_some_and(u8::is_ascii_alphanumeric) && self.tokens.is_name(at) || self.word(at) == b"as";
            if needs_space && name.last() != Some(&b' ') {
                name.push(b' ');
            }
            name.extend_from_slice(self.word(at));
        }
        match &module.private_module {
            Some(private) => outline.add_local(private, head),
            None => outline.add_exported(&[&module.prefix, &name[..]].concat(), head),
        }
    }
}
