//! Reads members of an object like zod 3.24: refuses a wrong type with zod's sentence, and accepts unknown members.

use crate::json::{Json, Object, member_of, set_member};
use crate::refusal::{Refusal, escape};
use crate::time::Time;

/// A problem of a member.
#[derive(Debug)]
pub struct MemberError {
    pub field: String,
    pub message: String,
}

impl MemberError {
    pub fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            message: message.into(),
        }
    }

    pub fn in_file(self, file: &str) -> Refusal {
        Refusal {
            file: file.to_owned(),
            field: self.field,
            message: self.message,
        }
    }
}

/// An object and its path in the file.
pub struct Shape<'a> {
    object: &'a Object,
    path: String,
}

impl<'a> Shape<'a> {
    pub fn of(value: &'a Json, path: impl Into<String>) -> Result<Self, MemberError> {
        let path = path.into();
        match value {
            Json::Object(object) => Ok(Self { object, path }),
            other => Err(unexpected(path, "object", other)),
        }
    }

    /// The path of a member.
    fn field(&self, name: &str) -> String {
        if self.path.is_empty() {
            name.to_owned()
        } else {
            format!("{}.{name}", self.path)
        }
    }

    fn required<T>(&self, name: &str, value: Option<T>) -> Result<T, MemberError> {
        value.ok_or_else(|| MemberError::new(self.field(name), "Required"))
    }

    pub fn optional_text(&self, name: &str) -> Result<Option<String>, MemberError> {
        match member_of(self.object, name) {
            None => Ok(None),
            Some(Json::Text(text)) => Ok(Some(text.clone())),
            Some(other) => Err(unexpected(self.field(name), "string", other)),
        }
    }

    pub fn text(&self, name: &str) -> Result<String, MemberError> {
        self.required(name, self.optional_text(name)?)
    }

    pub fn text_not_empty(&self, name: &str) -> Result<String, MemberError> {
        let text = self.text(name)?;
        if text.is_empty() {
            return Err(MemberError::new(
                self.field(name),
                "String must contain at least 1 character(s)",
            ));
        }
        Ok(text)
    }

    pub fn optional_time(&self, name: &str) -> Result<Option<Time>, MemberError> {
        let time =
            |text: String| Time::parse(&text).map_err(|_| MemberError::new(self.field(name), "Invalid datetime"));
        self.optional_text(name)?.map(time).transpose()
    }

    pub fn time(&self, name: &str) -> Result<Time, MemberError> {
        self.required(name, self.optional_time(name)?)
    }

    pub fn optional_flag(&self, name: &str) -> Result<Option<bool>, MemberError> {
        match member_of(self.object, name) {
            None => Ok(None),
            Some(Json::Bool(flag)) => Ok(Some(*flag)),
            Some(other) => Err(unexpected(self.field(name), "boolean", other)),
        }
    }

    pub fn check_optional_number(&self, name: &str) -> Result<(), MemberError> {
        match member_of(self.object, name) {
            None | Some(Json::Number(_)) => Ok(()),
            Some(other) => Err(unexpected(self.field(name), "number", other)),
        }
    }

    /// One of `values`, by its word.
    pub fn optional_word<T: Copy>(
        &self,
        name: &str,
        values: &[T],
        word: fn(T) -> &'static str,
    ) -> Result<Option<T>, MemberError> {
        let words = || {
            let quoted: Vec<_> = values.iter().map(|value| format!("'{}'", word(*value))).collect();
            quoted.join(" | ")
        };
        let text = match member_of(self.object, name) {
            None => return Ok(None),
            Some(Json::Text(text)) => text,
            Some(other) => return Err(unexpected(self.field(name), &words(), other)),
        };
        let value = values.iter().find(|value| word(**value) == text);
        value.copied().map(Some).ok_or_else(|| {
            let received = escape(text);
            let message = format!("Invalid enum value. Expected {}, received '{received}'", words());
            MemberError::new(self.field(name), message)
        })
    }

    pub fn word<T: Copy>(&self, name: &str, values: &[T], word: fn(T) -> &'static str) -> Result<T, MemberError> {
        self.required(name, self.optional_word(name, values, word)?)
    }

    pub fn optional_items(&self, name: &str) -> Result<Option<&'a [Json]>, MemberError> {
        match member_of(self.object, name) {
            None => Ok(None),
            Some(Json::Array(items)) => Ok(Some(items)),
            Some(other) => Err(unexpected(self.field(name), "array", other)),
        }
    }

    pub fn optional_texts(&self, name: &str) -> Result<Option<Vec<String>>, MemberError> {
        let Some(items) = self.optional_items(name)? else {
            return Ok(None);
        };
        let text = |(index, item): (usize, &Json)| match item {
            Json::Text(text) => Ok(text.clone()),
            other => Err(unexpected(format!("{}[{index}]", self.field(name)), "string", other)),
        };
        items.iter().enumerate().map(text).collect::<Result<_, _>>().map(Some)
    }

    pub fn optional_objects(&self, name: &str) -> Result<Option<Vec<Shape<'a>>>, MemberError> {
        let Some(items) = self.optional_items(name)? else {
            return Ok(None);
        };
        let path = |index| format!("{}[{index}]", self.field(name));
        let objects = items
            .iter()
            .enumerate()
            .map(|(index, item)| Shape::of(item, path(index)));
        objects.collect::<Result<_, _>>().map(Some)
    }

    pub fn objects(&self, name: &str) -> Result<Vec<Shape<'a>>, MemberError> {
        self.required(name, self.optional_objects(name)?)
    }

    pub fn optional_object(&self, name: &str) -> Result<Option<Shape<'a>>, MemberError> {
        let value = member_of(self.object, name);
        value.map(|value| Shape::of(value, self.field(name))).transpose()
    }
}

fn unexpected(field: String, expected: &str, found: &Json) -> MemberError {
    MemberError::new(field, format!("Expected {expected}, received {}", found.kind()))
}

/// A documented record.
pub trait Record {
    /// All members in the documented order, even those without a value.
    fn members(&self) -> Vec<(&'static str, Option<Json>)>;

    /// The object of a new record.
    fn object(&self) -> Object {
        let members = self.members().into_iter();
        members
            .filter_map(|(name, value)| Some((name.to_owned(), value?)))
            .collect()
    }

    /// `object`, which is that of `before`, with the members that differ in `self`. Other members stay unchanged.
    fn edit(&self, before: &Self, object: &Object) -> Object {
        let (old, new) = (before.members(), self.members());
        let order: Vec<_> = new.iter().map(|(name, _)| *name).collect();
        let mut object = object.clone();
        for ((name, new), (_, old)) in new.into_iter().zip(old) {
            if new != old {
                set_member(&mut object, &order, name, new);
            }
        }
        object
    }
}

pub fn text(text: &str) -> Option<Json> {
    Some(Json::Text(text.to_owned()))
}

pub fn time(time: &Time) -> Option<Json> {
    text(time.as_str())
}

pub fn texts(texts: &[String]) -> Option<Json> {
    Some(Json::Array(texts.iter().cloned().map(Json::Text).collect()))
}
