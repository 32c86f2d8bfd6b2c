#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    /// In the spelling of the file.
    Number(Box<str>),
    Text(String),
    Array(Vec<Json>),
    Object(Object),
}

/// Members in the order of the file, with distinct names.
pub type Object = Vec<(String, Json)>;

impl Json {
    /// Zod's name of the type, for sentences.
    pub fn kind(&self) -> &'static str {
        match self {
            Json::Null => "null",
            Json::Bool(_) => "boolean",
            Json::Number(_) => "number",
            Json::Text(_) => "string",
            Json::Array(_) => "array",
            Json::Object(_) => "object",
        }
    }
}
