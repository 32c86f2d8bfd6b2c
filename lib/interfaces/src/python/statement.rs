//! Statements of a module or a class.

use std::ops::Range;

use super::{Block, Class, Import, Module};
use crate::outline::{Head, Outline};
use crate::tokens::Kind;

/// Callables whose arguments are part of the type that they create.
const TYPE_FACTORIES: [&[u8]; 10] = [
    b"TypeVar",
    b"ParamSpec",
    b"TypeVarTuple",
    b"NewType",
    b"namedtuple",
    b"NamedTuple",
    b"TypedDict",
    b"Enum",
    b"IntEnum",
    b"TypeAliasType",
];

/// Longest module name that the head of each name imported from it repeats. A digest stands for a longer one.
const MAX_SOURCE_BYTES: usize = 256;

impl<'t> Module<'_, 't> {
    /// Reads the statement at `start`, at the top level or in a class. Returns where the next one on the line begins.
    pub(super) fn statement(
        &mut self,
        start: usize,
        end: usize,
        indentation: usize,
        is_class: bool,
        outline: &mut Outline,
    ) -> usize {
        let is_async = self.word(start) == b"async";
        let at = start + usize::from(is_async);
        match self.word(at) {
            b"@" => {
                let mut decorators = std::mem::take(&mut self.decorators);
                self.write_exact(at..end, &mut decorators);
                self.decorators = decorators;
                return end;
            }
            b"def" if self.tokens.is_name(at + 1) => {
                self.function(at, end, is_async, indentation, is_class, outline);
                return end;
            }
            b"class" if self.tokens.is_name(at + 1) => return self.class(at, end, indentation, is_class, outline),
            _ => {}
        }
        self.decorators = Head::default();
        let close = self.find(start..end, b";").unwrap_or(end);
        match self.word(start) {
            b"import" | b"from" if !is_class => self.import(start..close, outline),
            b"type" if self.tokens.is_name(start + 1) && matches!(self.word(start + 2), b"=" | b"[") => {
                let mut head = Head::of(&[b"type"]);
                self.write_exact(start + 2..close, &mut head);
                self.declare(start + 1, is_class, &head, outline);
            }
            b"__all__" if !is_class => self.dunder_all(start..close, outline),
            _ => self.assignment(start..close, is_class, outline),
        }
        close + 1
    }

    /// Adds the name at `at`, of a module or of the class that is being read.
    fn declare(&mut self, at: usize, is_class: bool, head: &Head, outline: &mut Outline) {
        let name = self.tokens.word(at);
        match self.classes.last_mut().filter(|_| is_class) {
            Some(class) => class.add_member(name, head),
            None => outline.add_exported(name, head),
        }
    }

    fn function(
        &mut self,
        at: usize,
        end: usize,
        is_async: bool,
        indentation: usize,
        is_class: bool,
        outline: &mut Outline,
    ) {
        self.has_definitions = true;
        let mut head = std::mem::take(&mut self.decorators);
        head.push(if is_async { b"async" } else { b"def" });
        let colon = self.find(at..end, b":").unwrap_or(end);
        self.write_exact(at + 2..colon, &mut head);
        self.declare(at + 1, is_class, &head, outline);
        let is_initializer = is_class && self.word(at + 1) == b"__init__";
        if colon + 1 < end {
            // The body is on the same line.
            if is_initializer {
                self.attributes_of_self(colon + 1..end);
            }
            return;
        }
        let block = if is_initializer {
            Block::Initializer
        } else {
            Block::Body
        };
        self.blocks.push((indentation, block));
    }

    fn class(&mut self, at: usize, end: usize, indentation: usize, is_class: bool, outline: &mut Outline) -> usize {
        self.has_definitions = true;
        let mut head = std::mem::take(&mut self.decorators);
        head.push(b"class");
        let colon = self.find(at..end, b":").unwrap_or(end);
        self.write_exact(at + 2..colon, &mut head);
        if head.ends_with(&[b"(", b")"]) {
            head.pop();
            head.pop();
        }
        let name = self.word(at + 1);
        if is_class && !super::class::is_public(name) {
            self.blocks.push((indentation, Block::Body));
            return end;
        }
        self.classes.push(Class::new(name, head));
        if colon + 1 >= end {
            self.blocks.push((indentation, Block::Class));
            return end;
        }
        // `class A: b = 1`
        let mut next = colon + 1;
        while next < end {
            next = self.statement(next, end, indentation, true, outline);
        }
        self.blocks.push((indentation, Block::Class));
        self.close_blocks(indentation, outline);
        end
    }

    fn import(&mut self, range: Range<usize>, outline: &mut Outline) {
        let is_from = self.word(range.start) == b"from";
        let mut source = Head::of(&[b"from"]);
        let mut at = range.start + 1;
        if is_from {
            while at < range.end && !(self.word(at) == b"import" && self.tokens.is_name(at)) {
                source.push(&[b"'", self.word(at)].concat());
                at += 1;
            }
            at += 1;
            // The head of each name repeats it.
            if source.bytes().len() > MAX_SOURCE_BYTES {
                source = source.digest();
            }
        }
        let is_relative = is_from && self.word(range.start + 1).starts_with(b".");
        let first = at;
        while at < range.end {
            let start = at;
            if self.word(at) == b"*" {
                // Python allows one star, by itself. With many, each name below would be as long as the text before it.
                if !is_from || at > first {
                    break;
                }
                let mut name = b"* from ".to_vec();
                for part in range.start + 1..start - 1 {
                    name.extend_from_slice(self.word(part));
                }
                outline.add_exported(&name, &Head::default());
            } else if self.tokens.is_name(at) {
                let mut head = source.clone();
                head.push(&[b"'", self.word(at)].concat());
                at += 1;
                while at + 1 < range.end && self.word(at) == b"." {
                    head.push(&[b"'.", self.word(at + 1)].concat());
                    at += 2;
                }
                let has_alias = at < range.end && self.word(at) == b"as";
                let name = self.word(if has_alias { at + 1 } else { start });
                at += if has_alias { 2 } else { 0 };
                let is_repeated = has_alias && name == self.word(start) && start + 3 == at;
                self.imports.push(Import {
                    name,
                    head,
                    is_public: is_relative || is_repeated,
                });
            }
            at = at.max(start + 1);
        }
    }

    /// Reads `__all__ = [...]`, `__all__ += [...]` or a call of one of its methods.
    fn dunder_all(&mut self, range: Range<usize>, outline: &mut Outline) {
        let mut head = Head::default();
        self.write_exact(range.start + 1..range.end, &mut head);
        outline.add_exported(b"__all__", &head);
        for at in range {
            if let (Some(Kind::Text), [_, name @ .., _]) = (self.tokens.kind(at), self.word(at)) {
                self.names_in_all.push(name.to_owned());
            }
        }
    }

    fn assignment(&mut self, range: Range<usize>, is_class: bool, outline: &mut Outline) {
        let Range { start, end } = range;
        let equals = self.find(start..end, b"=");
        let colon = self.find(start..equals.unwrap_or(end), b":");
        if let Some(colon) = colon {
            if colon == start + 1 && self.tokens.is_name(start) {
                let mut head = Head::default();
                self.write_exact(colon..equals.unwrap_or(end), &mut head);
                if equals.is_some() && is_class {
                    head.push(b"=");
                }
                self.declare(start, is_class, &head, outline);
            }
            return;
        }
        let Some(mut equals) = equals else { return };
        let mut targets: Vec<Range<usize>> = Vec::new();
        let mut target = start;
        loop {
            targets.push(target..equals);
            target = equals + 1;
            match self.find(target..end, b"=") {
                Some(next) => equals = next,
                None => break,
            }
        }
        let mut value = Head::default();
        let is_slots = is_class && matches!(self.word(start), b"__slots__" | b"__match_args__");
        if is_slots || self.is_type(target..end) {
            self.write_exact(target..end, &mut value);
        } else if self.word(target) == b"lambda" {
            let mut colon = target + 1;
            while colon < end && self.word(colon) != b":" {
                colon = self.tokens.after(colon);
            }
            self.write_exact(target..colon, &mut value);
        }
        // Several names share one head by its digest, so that a long head is stored once.
        let names: Vec<usize> = targets.into_iter().flat_map(|range| self.bound_names(range)).collect();
        let shared = if names.len() > 1 { value.digest() } else { value };
        for name in names {
            self.declare(name, is_class, &shared, outline);
        }
    }

    /// Whether a value may be a type: another name, a type, or an expression that creates a type.
    fn is_type(&self, range: Range<usize>) -> bool {
        let mut at = range.start;
        while self.tokens.is_name(at) && self.word(at + 1) == b"." {
            at += 2;
        }
        if TYPE_FACTORIES.contains(&self.word(at)) && self.word(at + 1) == b"(" {
            return self.tokens.after(at + 1) == range.end;
        }
        // Names, dots, `|`, and subscripts with anything in them.
        let mut at = range.start;
        while at < range.end {
            let is_part = match self.tokens.kind(at) {
                Some(Kind::Word) => !matches!(
                    self.word(at),
                    b"True"
                        | b"False"
                        | b"lambda"
                        | b"await"
                        | b"yield"
                        | b"not"
                        | b"if"
                        | b"and"
                        | b"or"
                        | b"in"
                        | b"is"
                ),
                Some(Kind::Punct) => matches!(self.word(at), b"." | b"|"),
                Some(Kind::Open) => self.word(at) == b"[" && at > range.start,
                _ => false,
            };
            if !is_part {
                return false;
            }
            at = self.tokens.after(at);
        }
        range.start < range.end
    }

    /// The names that a target binds.
    fn bound_names(&self, range: Range<usize>) -> Vec<usize> {
        range
            .clone()
            .filter(|at| {
                self.tokens.is_name(*at)
                    && (*at + 1 >= range.end || !matches!(self.word(at + 1), b"." | b"[" | b"("))
                    && (*at == range.start || matches!(self.word(at - 1), b"," | b"(" | b"[" | b"*"))
            })
            // Names in a subscript are not targets.
            .filter(|at| self.is_target(*at, range.start))
            .collect()
    }

    fn is_target(&self, at: usize, start: usize) -> bool {
        at == start || !matches!(self.word(at - 1), b"[" | b"(") || at < start + 2 || !self.tokens.is_name(at - 2)
    }

    /// Adds the names that the head of a loop or of `with` binds.
    pub(super) fn names_of_head(&mut self, range: Range<usize>, outline: &mut Outline) {
        let is_class = !self.classes.is_empty();
        let start = range.start;
        let mut names = Vec::new();
        match self.word(start) {
            b"for" => {
                let stop = range.clone().find(|at| self.word(*at) == b"in").unwrap_or(range.end);
                names = self.bound_names(start + 1..stop);
            }
            b"with" => {
                let mut at = start;
                while at < range.end {
                    let target = at + 1;
                    let is_as = self.word(at) == b"as";
                    at = target;
                    if is_as && matches!(self.word(target), b"(" | b"[") {
                        at = self.tokens.after(target);
                        names.extend(self.bound_names(target..at));
                    } else if is_as && self.tokens.is_name(target) && !matches!(self.word(target + 1), b"." | b"[") {
                        names.push(target);
                    }
                }
            }
            _ => {}
        }
        for name in names {
            self.declare(name, is_class, &Head::default(), outline);
        }
    }

    /// Adds the attributes that a line of `__init__` sets.
    pub(super) fn attributes_of_self(&mut self, range: Range<usize>) {
        let mut start = range.start;
        while start < range.end {
            let end = self.find(start..range.end, b";").unwrap_or(range.end);
            let colon = self.find(start..end, b":");
            let mut last = None;
            let mut from = start;
            while let Some(equals) = self.find(from..end, b"=") {
                last = Some(equals);
                from = equals + 1;
            }
            let is_annotated = colon == Some(start + 3);
            let targets = match (is_annotated, last) {
                (true, _) => start..start + 3,
                (false, Some(equals)) => start..equals,
                (false, None) => start..start,
            };
            let mut annotation = Head::default();
            if is_annotated {
                self.write_exact(start + 3..self.find(start..end, b"=").unwrap_or(end), &mut annotation);
            }
            let mut names: Vec<&'t [u8]> = Vec::new();
            for at in targets.clone() {
                let is_attribute = self.word(at) == b"self" && self.word(at + 1) == b"." && at + 2 < targets.end;
                let follows = if at + 3 < targets.end { self.word(at + 3) } else { b"=" };
                if is_attribute && matches!(follows, b"=" | b"," | b")" | b"]") {
                    names.push(self.word(at + 2));
                }
            }
            if let Some(class) = self.classes.last_mut() {
                for name in names {
                    class.add_attribute(name, &annotation);
                }
            }
            start = end + 1;
        }
    }
}
