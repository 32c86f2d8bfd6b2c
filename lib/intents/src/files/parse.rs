//! Parses text into a tree. A strict parser provides the events. Events lack the positions of indicators (`-`, `:`,
//! `[`), so a cursor finds these in the text. It refuses a file where they are not at the expected positions.

use std::collections::HashSet;

use saphyr_parser::{Event, Parser, ScalarStyle, StrInput};

use super::Refusal;
use super::tree::{Content, Entry, Item, Node, Style, Tree};

const MAX_DEPTH: usize = 32;

impl Tree {
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        let mut reader = Reader {
            text,
            parser: Parser::new_from_str(text),
            offsets: offsets(text),
            cursor: 0,
        };
        if text.starts_with('\u{feff}') {
            reader.cursor = '\u{feff}'.len_utf8();
        }
        let mut tree: Option<Self> = None;
        while let Some(event) = reader.next() {
            let (event, start, end) = event?;
            match event {
                Event::StreamStart | Event::StreamEnd => {}
                Event::DocumentStart(explicit) => {
                    if tree.is_some() {
                        return Err(reader.refuse(start, "a second document begins here; only one is allowed"));
                    }
                    if explicit {
                        reader.cursor = end;
                    }
                }
                Event::DocumentEnd => {
                    reader.skip()?;
                    if let Some(tree) = &mut tree {
                        tree.end = start.max(tree.root.end);
                    }
                }
                event => {
                    let root = reader.node(
                        event,
                        start,
                        end,
                        ParsePosition {
                            depth: 0,
                            in_flow: false,
                        },
                    )?;
                    tree = Some(Self { end: root.end, root });
                }
            }
        }
        let end = text.len();
        Ok(tree.unwrap_or(Self {
            root: Node::empty(end),
            end,
        }))
    }
}

/// The byte offset of each character, unless both are the same everywhere.
fn offsets(text: &str) -> Option<Vec<u32>> {
    (!text.is_ascii()).then(|| {
        text.char_indices()
            .map(|(offset, _)| offset as u32)
            .chain([text.len() as u32])
            .collect()
    })
}

struct Reader<'a> {
    text: &'a str,
    parser: Parser<'a, StrInput<'a>>,
    offsets: Option<Vec<u32>>,
    cursor: usize,
}

#[derive(Clone, Copy)]
struct ParsePosition {
    depth: usize,
    in_flow: bool,
}

const TAB: &str = "a tab is not allowed: indent and separate with spaces";
const NOT_READ: &str = "unexpected here: write `key: value`, `- item`, `[a, b]` or `{a: b}`";

impl<'a> Reader<'a> {
    fn refuse(&self, offset: usize, message: impl Into<String>) -> Refusal {
        Refusal::at(self.text, offset, message)
    }

    fn next(&mut self) -> Option<Result<(Event<'a>, usize, usize), Refusal>> {
        Some(match self.parser.next_event()? {
            Ok((event, span)) => Ok((event, self.offset(span.start.index()), self.offset(span.end.index()))),
            Err(error) => {
                let at = self.offset(error.marker().index());
                let tab = at - usize::from(self.text[..at].ends_with('\t'));
                let is_tab = self.text[tab..].starts_with('\t');
                Err(self.refuse(if is_tab { tab } else { at }, if is_tab { TAB } else { error.info() }))
            }
        })
    }

    fn offset(&self, character: usize) -> usize {
        match &self.offsets {
            Some(offsets) => offsets
                .get(character)
                .map_or(self.text.len(), |&offset| offset as usize),
            None => character.min(self.text.len()),
        }
    }

    fn event(&mut self) -> Result<(Event<'a>, usize, usize), Refusal> {
        self.next()
            .unwrap_or_else(|| Err(self.refuse(self.text.len(), "the file ends too early")))
    }

    /// Moves over blanks, line breaks and comments.
    fn skip(&mut self) -> Result<usize, Refusal> {
        let bytes = self.text.as_bytes();
        loop {
            match bytes.get(self.cursor) {
                Some(b' ' | b'\n') => self.cursor += 1,
                Some(b'\r') if bytes.get(self.cursor + 1) == Some(&b'\n') => self.cursor += 2,
                Some(b'#') => {
                    let rest = &bytes[self.cursor..];
                    self.cursor += rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
                }
                Some(b'\t') => return Err(self.refuse(self.cursor, TAB)),
                _ => return Ok(self.cursor),
            }
        }
    }

    /// Moves over `indicator`, if it comes next.
    fn take(&mut self, indicator: u8) -> Result<Option<usize>, Refusal> {
        let at = self.skip()?;
        let is_next = self.text.as_bytes().get(at) == Some(&indicator);
        self.cursor += usize::from(is_next);
        Ok(is_next.then_some(at))
    }

    /// Moves over `indicator`, which must come next.
    fn require(&mut self, indicator: u8) -> Result<usize, Refusal> {
        self.take(indicator)?.ok_or_else(|| self.refuse(self.cursor, NOT_READ))
    }

    fn node(&mut self, event: Event<'a>, start: usize, end: usize, position: ParsePosition) -> Result<Node, Refusal> {
        let (anchor, tag) = match &event {
            Event::Scalar(_, _, anchor, tag) => (*anchor, tag.is_some()),
            Event::SequenceStart(anchor, tag) | Event::MappingStart(anchor, tag) => (*anchor, tag.is_some()),
            _ => (0, false),
        };
        if anchor > 0 || matches!(event, Event::Alias(_)) {
            let at = self.skip()?;
            return Err(self.refuse(at, "anchors and aliases are not supported: write the value out"));
        }
        if tag {
            let at = self.skip()?;
            return Err(self.refuse(at, "tags are not supported: write only the value"));
        }
        if position.depth > MAX_DEPTH {
            return Err(self.refuse(start, format!("nested deeper than {MAX_DEPTH} levels")));
        }
        match event {
            Event::Scalar(text, style, ..) => self.scalar(text.into_owned(), style, start, end),
            Event::SequenceStart(..) => self.list(position),
            Event::MappingStart(..) => self.map(position),
            _ => Err(self.refuse(start, NOT_READ)),
        }
    }

    fn scalar(&mut self, text: String, style: ScalarStyle, start: usize, end: usize) -> Result<Node, Refusal> {
        if style == ScalarStyle::Plain && text.is_empty() {
            return Ok(Node::empty(self.cursor));
        }
        let at = self.skip()?;
        let style = match style {
            ScalarStyle::Literal | ScalarStyle::Folded => return self.block_scalar(text, at, end),
            _ if at != start => return Err(self.refuse(at, NOT_READ)),
            ScalarStyle::Plain => Style::Plain,
            ScalarStyle::SingleQuoted => Style::Single,
            ScalarStyle::DoubleQuoted => Style::Double,
        };
        self.cursor = end;
        Ok(Node {
            start,
            end,
            content: Content::Scalar { text, style },
        })
    }

    fn block_scalar(&mut self, text: String, start: usize, end: usize) -> Result<Node, Refusal> {
        let header = &self.text[start..];
        if !header.starts_with(['|', '>']) {
            return Err(self.refuse(start, NOT_READ));
        }
        let is_indicator = |c: char| matches!(c, '|' | '>' | '+' | '-') || c.is_ascii_digit();
        let header_end = start + header.find(|c| !is_indicator(c)).unwrap_or(header.len());
        let body = self.text[header_end..]
            .find('\n')
            .map_or(self.text.len(), |newline| header_end + newline + 1);
        let mut lines = self.text[body..end.max(body)].trim_end_matches(' ');
        if !self.text[start..header_end].contains('+') {
            lines = lines.trim_end_matches(['\r', '\n']);
        }
        let end = if lines.is_empty() {
            header_end
        } else {
            body + lines.len()
        };
        self.cursor = end;
        Ok(Node {
            start,
            end,
            content: Content::Scalar {
                text,
                style: Style::Block { header_end },
            },
        })
    }

    fn list(&mut self, position: ParsePosition) -> Result<Node, Refusal> {
        let opening = self.take(b'[')?;
        let flow = opening.is_some();
        let inner = ParsePosition {
            depth: position.depth + 1,
            in_flow: flow,
        };
        let mut items = Vec::new();
        loop {
            let (event, start, end) = self.event()?;
            if flow {
                self.take(b',')?;
            }
            if matches!(event, Event::SequenceEnd) {
                break;
            }
            let dash = if flow { None } else { Some(self.require(b'-')?) };
            let node = self.node(event, start, end, inner)?;
            items.push(Item {
                dash: dash.unwrap_or(node.start),
                node,
            });
        }
        if flow {
            self.require(b']')?;
        }
        let start = opening.or(items.first().map(|item| item.dash)).unwrap_or(self.cursor);
        Ok(Node {
            start,
            end: self.cursor,
            content: Content::List { flow, items },
        })
    }

    fn map(&mut self, position: ParsePosition) -> Result<Node, Refusal> {
        let opening = self.take(b'{')?;
        let flow = opening.is_some();
        let inner = ParsePosition {
            depth: position.depth + 1,
            in_flow: flow || position.in_flow,
        };
        let mut entries: Vec<Entry> = Vec::new();
        let mut keys = HashSet::new();
        loop {
            let (event, start, end) = self.event()?;
            if flow {
                self.take(b',')?;
            }
            if matches!(event, Event::MappingEnd) {
                break;
            }
            let key = self.node(event, start, end, inner)?;
            let Node {
                start: key_start,
                content: Content::Scalar { text, .. },
                ..
            } = key
            else {
                return Err(self.refuse(key.start, "a key must be a word or a text"));
            };
            if text.is_empty() {
                return Err(self.refuse(key_start, "a key is missing"));
            }
            if !keys.insert(text.clone()) {
                return Err(self.refuse(key_start, format!("the key `{text}` appears twice")));
            }
            // In `{a}` the key has neither colon nor value.
            let colon = if inner.in_flow {
                self.take(b':')?
            } else {
                Some(self.require(b':')?)
            };
            let value_from = colon.map_or(self.cursor, |colon| colon + 1);
            let (event, start, end) = self.event()?;
            let value = self.node(event, start, end, inner)?;
            entries.push(Entry {
                key: text,
                key_start,
                value_from,
                value,
            });
        }
        if flow {
            self.require(b'}')?;
        }
        let start = opening
            .or(entries.first().map(|entry| entry.key_start))
            .unwrap_or(self.cursor);
        Ok(Node {
            start,
            end: self.cursor,
            content: Content::Map { flow, entries },
        })
    }
}
