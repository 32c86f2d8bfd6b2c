//! Markup with code in braces: the holes of Svelte's markup, and all of Astro's markup.
//!
//! Astro nests elements in code and code in elements. The elements follow the rules of HTML: some have no closing tag,
//! scripts and styles contain no markup, and there are comments.

use crate::javascript::literal::template_end;
use crate::javascript::scanner::{Dialect, Scanner};
use crate::javascript::state::{Frame, OpenBraces, Part, PreviousToken};
use crate::markup::{Element, comment_end, is_void, tag_name};

impl Scanner<'_, '_> {
    /// Scans code from `start` up to the brace that closes it; returns the position after that brace. If no brace
    /// closes it, returns `None` and adds no imports.
    pub(crate) fn scan_hole(&mut self, dialect: Dialect, start: usize) -> Option<usize> {
        let whole = self.text;
        let mark = self.findings.mark();
        self.begin(dialect, start, whole.len());
        self.previous = PreviousToken::Operator;
        self.last_word = usize::MAX;
        self.frames.push(Frame::MarkupHole);
        self.code();
        while self.backtrack_to_element() {
            self.code();
        }
        self.text = whole;
        let is_closed = self.frames.is_empty();
        self.frames.clear();
        self.roots.clear();
        if !is_closed {
            self.findings.roll_back(mark);
        }
        is_closed.then_some(self.position)
    }

    /// Ends the code of [`Self::scan_hole`] at the position.
    pub(super) fn end_hole(&mut self) {
        self.text = &self.text[..self.position];
        self.stops = super::stop_bytes::Stops::NONE;
    }

    /// Scans the markup of Astro from `start` on, apart from its scripts; returns the ends of the names of their tags.
    pub(crate) fn scan_markup(&mut self, start: usize) -> Vec<usize> {
        self.begin(Dialect::TYPESCRIPT_JSX, start, self.text.len());
        self.last_word = usize::MAX;
        self.is_html = true;
        self.frames.push(Frame::Document);
        self.element(Part::Children);
        loop {
            self.code();
            if self.backtrack_to_element() {
                continue;
            }
            let Some(hole) = self.hole.take() else { break };
            // The brace is text, and so are all braces after it.
            self.has_holes = false;
            self.findings.roll_back(hole.mark);
            self.scripts.truncate(hole.scripts);
            self.frames.truncate(hole.frames);
            self.roots.clear();
            self.position = hole.position;
            self.element(hole.part);
        }
        self.frames.clear();
        self.roots.clear();
        self.is_html = false;
        std::mem::take(&mut self.scripts)
    }

    /// Consumes the brace that opens `frame` in `part` of an element.
    pub(super) fn open_hole(&mut self, frame: Frame, part: Part) {
        if self.is_html && self.roots.is_empty() {
            self.hole = Some(OpenBraces {
                position: self.position + 1,
                part,
                frames: self.frames.len(),
                mark: self.findings.mark(),
                scripts: self.scripts.len(),
            });
        }
        self.open(frame);
        self.previous = PreviousToken::Operator;
    }

    /// Continues with `part` of an element after the brace that closes a hole in it.
    pub(super) fn leave_hole(&mut self, part: Part) {
        if self.roots.is_empty() {
            self.hole = None;
        }
        self.element(part);
    }

    /// Consumes the `<` of an element in HTML, or the whole element if it is a script or a style.
    pub(super) fn open_html(&mut self, frame: Frame) -> Part {
        let name = tag_name(self.text, self.position + 1);
        self.open(frame);
        if name == b"script" || name == b"style" {
            let after_name = self.position + name.len();
            if name == b"script" && !self.findings.is_full() {
                self.scripts.push(after_name);
            }
            self.position = Element::read(self.text, after_name, name).end;
            return self.end_element();
        }
        if is_void(name) {
            self.frames.push(Frame::VoidElement);
        }
        Part::Tag
    }

    /// Consumes a comment of HTML, if there is one. Returns whether there was.
    pub(super) fn html_comment(&mut self) -> bool {
        let end = if self.is_html {
            comment_end(self.text, self.position)
        } else {
            None
        };
        self.position = end.unwrap_or(self.position);
        end.is_some()
    }

    /// Continues in the template that is the value of an attribute.
    pub(super) fn value_template(&mut self) -> Part {
        match template_end(self.text, self.position) {
            Some((end, false)) => {
                self.position = end;
                Part::Tag
            }
            Some((end, true)) => {
                self.position = end - 1;
                self.open_hole(Frame::ValueTemplateHole, Part::Tag);
                Part::Code
            }
            None => {
                self.position = self.text.len();
                Part::Code
            }
        }
    }
}
