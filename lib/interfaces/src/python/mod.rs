//! The interface of Python: every name at the module's top level, and the heads of its functions. A class has its
//! parents, its public methods, and its attributes, including those that `__init__` sets.
//!
//! Names inside `if`, `try`, `with` and loops count. An imported name counts if the module reexports it: the import is
//! relative, in `__all__`, repeated by `as`, or a star, or the module itself defines nothing.

mod class;
mod lexer;
mod statement;

#[cfg(test)]
mod tests;

use std::ops::Range;

use self::class::Class;
use self::lexer::Line;
use super::InterfaceUnknown;
use super::outline::{Head, Outline};
use super::tokens::{Kind, Tokens};

/// Kind of a block's lines.
#[derive(Debug)]
enum Block {
    /// Conditions and loops: their lines count like those around them.
    Plain,
    /// The body of a function: nothing in it counts.
    Body,
    /// The body of `__init__`, which sets attributes.
    Initializer,
    /// A class, which may be nested.
    Class,
}

pub(super) struct Module<'a, 't> {
    tokens: &'a Tokens<'t>,
    /// Open blocks, with the indentation of their heads.
    blocks: Vec<(usize, Block)>,
    /// The classes of these blocks.
    classes: Vec<Class<'t>>,
    /// Decorators of the next definition.
    decorators: Head,
    imports: Vec<Import<'t>>,
    /// Names in `__all__`.
    names_in_all: Vec<Vec<u8>>,
    /// Whether the module defines a function or a class.
    has_definitions: bool,
}

struct Import<'t> {
    name: &'t [u8],
    head: Head,
    is_public: bool,
}

/// Adds the declarations of `text` to `outline`.
pub(super) fn read(text: &[u8], outline: &mut Outline) -> Result<(), InterfaceUnknown> {
    let (tokens, lines) = lexer::lines(text)?;
    let mut module = Module {
        tokens: &tokens,
        blocks: Vec::new(),
        classes: Vec::new(),
        decorators: Head::default(),
        imports: Vec::new(),
        names_in_all: Vec::new(),
        has_definitions: false,
    };
    for line in &lines {
        module.line(line, outline);
    }
    module.close_blocks(0, outline);
    module.names_in_all.sort_unstable();
    for import in &module.imports {
        let is_in_all = module
            .names_in_all
            .binary_search_by(|name| name[..].cmp(import.name))
            .is_ok();
        if import.is_public || is_in_all || !module.has_definitions {
            outline.add_exported(import.name, &import.head);
        }
    }
    Ok(())
}

impl<'t> Module<'_, 't> {
    fn word(&self, at: usize) -> &'t [u8] {
        self.tokens.word(at)
    }

    /// Reads one logical line.
    fn line(&mut self, line: &Line, outline: &mut Outline) {
        self.close_blocks(line.indentation, outline);
        let mut start = line.tokens.start;
        let end = line.tokens.end;
        // `if a:` before statements on the same line.
        while is_plain_head(self.word(start)) {
            let Some(colon) = self.find(start..end, b":") else {
                break;
            };
            if self.is_soft_name(start, colon) {
                break;
            }
            if !matches!(self.blocks.last(), Some((_, Block::Body | Block::Initializer))) {
                self.names_of_head(start..colon, outline);
                if colon + 1 == end {
                    self.blocks.push((line.indentation, Block::Plain));
                }
            }
            start = colon + 1;
        }
        match self
            .blocks
            .iter()
            .rev()
            .find(|(_, block)| !matches!(block, Block::Plain))
        {
            Some((_, Block::Body)) => {}
            Some((_, Block::Initializer)) => self.attributes_of_self(start..end),
            block => {
                let is_class = block.is_some();
                let mut at = start;
                while at < end {
                    at = self.statement(at, end, line.indentation, is_class, outline);
                }
            }
        }
    }

    /// Ends the blocks whose lines are deeper than `indentation`.
    fn close_blocks(&mut self, indentation: usize, outline: &mut Outline) {
        while let Some((_, block)) = self.blocks.pop_if(|(head, _)| *head >= indentation) {
            if matches!(block, Block::Class)
                && let Some(class) = self.classes.pop()
            {
                let head = class.head();
                match self.classes.last_mut() {
                    Some(outer) => outer.add_member(class.name, &head),
                    None => outline.add_exported(class.name, &head),
                }
            }
        }
    }

    /// The first punctuation `word` in `range` outside of brackets.
    fn find(&self, range: Range<usize>, word: &[u8]) -> Option<usize> {
        let mut at = range.start;
        let mut open_lambdas = 0_usize;
        while at < range.end {
            match (self.tokens.kind(at), self.word(at)) {
                (Some(Kind::Word), b"lambda") => open_lambdas += 1,
                (Some(Kind::Punct), b":") if open_lambdas > 0 => open_lambdas -= 1,
                (Some(Kind::Punct), punct) if punct == word => return Some(at),
                _ => {}
            }
            at = self.tokens.after(at);
        }
        None
    }

    /// Whether `match` or `case` at `start` is a name, as in `match: int = 1`.
    fn is_soft_name(&self, start: usize, colon: usize) -> bool {
        matches!(self.word(start), b"match" | b"case") && colon == start + 1
    }

    /// Writes tokens; the quotes of a string do not count.
    fn write_exact(&self, range: Range<usize>, head: &mut Head) {
        for at in range {
            let word = self.word(at);
            match (self.tokens.kind(at), word) {
                (Some(Kind::Text), [b'\'', content @ .., b'\''])
                    if !content.contains(&b'"') && !content.contains(&b'\\') && !content.starts_with(b"''") =>
                {
                    head.push(&[b"\"", content, b"\""].concat());
                }
                _ => head.push_range(self.tokens, at..at + 1),
            }
        }
    }
}

/// Whether a block whose lines count like those around it can begin with `word`.
fn is_plain_head(word: &[u8]) -> bool {
    matches!(
        word,
        b"if" | b"elif" | b"else" | b"try" | b"except" | b"finally" | b"with" | b"for" | b"while" | b"match" | b"case"
    )
}
