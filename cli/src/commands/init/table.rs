//! A table in a TOML file. Everything else in the file keeps its layout.

use toml_edit::{DocumentMut, Item, Table as TomlTable, TableLike, Value};

use super::edit::{Addition, Removal};
use super::record::FileRecord;

#[derive(Clone, Debug)]
pub struct Table {
    /// The table that contains tables of this kind.
    pub parent: &'static str,
    pub name: &'static str,
    /// Its keys and values.
    pub values: Vec<(&'static str, Value)>,
}

impl Table {
    /// Adds the table, if there is none of its name.
    ///
    /// # Errors
    /// When the text is not TOML, or the parent no table.
    pub fn add(&self, text: Option<&str>) -> Result<Addition, String> {
        let text = text.unwrap_or_default();
        let mut document = parse(text)?;
        let mut made = Vec::new();
        if document.get(self.parent).is_none() {
            let mut parent = TomlTable::new();
            parent.set_implicit(true);
            document.insert(self.parent, Item::Table(parent));
            made.push(self.parent.to_owned());
        }
        let parent = document.get_mut(self.parent).expect("it was inserted");
        let is_inline = parent.is_inline_table();
        let tables = parent
            .as_table_like_mut()
            .ok_or_else(|| format!("`{}` is not a table", self.parent))?;
        if let Some(existing) = tables.get(self.name) {
            let mut addition = Addition {
                text: text.to_owned(),
                made: Vec::new(),
                skipped: Vec::new(),
            };
            if self.is_earlier_version(existing) {
                if let Some(table) = tables.get_mut(self.name).and_then(Item::as_table_like_mut) {
                    for (key, value) in &self.values {
                        table.entry(key).or_insert_with(|| Item::Value(value.clone()));
                    }
                }
                addition.text = document.to_string();
            } else if !self.is_equal(existing) {
                let skipped = format!("`{}.{}` is set otherwise", self.parent, self.name);
                addition.skipped.push(skipped);
            }
            return Ok(addition);
        }
        let mut table = TomlTable::new();
        for (key, value) in &self.values {
            table.insert(key, Item::Value(value.clone()));
        }
        let item = match is_inline {
            true => Item::Value(Value::InlineTable(table.into_inline_table())),
            false => Item::Table(table),
        };
        tables.insert(self.name, item);
        let text = document.to_string();
        let text = text.strip_prefix('\n').unwrap_or(&text).to_owned();
        Ok(Addition {
            text,
            made,
            skipped: Vec::new(),
        })
    }

    /// Removes the table, if it is still as it was written.
    ///
    /// # Errors
    /// As [`Table::add`].
    pub fn remove(&self, text: &str, record: Option<&FileRecord>) -> Result<Removal, String> {
        let mut document = parse(text)?;
        let Some(tables) = document.get_mut(self.parent).and_then(Item::as_table_like_mut) else {
            return Ok(Removal::unchanged(text));
        };
        match tables.get(self.name) {
            None => return Ok(Removal::unchanged(text)),
            Some(existing) if !self.is_equal(existing) && !self.is_earlier_version(existing) => {
                return Ok(Removal {
                    skipped: vec![format!("`{}.{}` was changed", self.parent, self.name)],
                    ..Removal::unchanged(text)
                });
            }
            Some(_) => tables.remove(self.name),
        };
        if tables.is_empty() && record.is_none_or(|record| record.made.contains(self.parent)) {
            document.remove(self.parent);
        }
        let rest = document.to_string();
        let is_empty = rest.trim().is_empty();
        Ok(Removal::leaving(rest, is_empty, record))
    }

    fn is_equal(&self, existing: &Item) -> bool {
        self.count_leading_values(existing) == Some(self.values.len())
    }

    /// Whether an earlier version of Coord has written the table, with fewer values.
    fn is_earlier_version(&self, existing: &Item) -> bool {
        self.count_leading_values(existing)
            .is_some_and(|count| (2..self.values.len()).contains(&count))
    }

    /// If `existing` has the first of our values and nothing else, how many.
    fn count_leading_values(&self, existing: &Item) -> Option<usize> {
        let plain = |value: &Value| value.clone().decorated("", "").to_string();
        let existing: Vec<(String, String)> = existing
            .as_table_like()
            .map(TableLike::iter)?
            .filter_map(|(key, item)| Some((key.to_owned(), plain(item.as_value()?))))
            .collect();
        let ours = self.values.iter().map(|(key, value)| (key.to_string(), plain(value)));
        let are_leading = existing.len() <= self.values.len() && ours.zip(&existing).all(|(our, own)| our == *own);
        are_leading.then_some(existing.len())
    }
}

fn parse(text: &str) -> Result<DocumentMut, String> {
    text.parse().map_err(|error: toml_edit::TomlError| {
        let offset = error.span().map_or(0, |span| span.start.min(text.len()));
        let line = text.as_bytes()[..offset].iter().filter(|byte| **byte == b'\n').count() + 1;
        format!("line {line}: {}", error.message().lines().next().unwrap_or_default())
    })
}
