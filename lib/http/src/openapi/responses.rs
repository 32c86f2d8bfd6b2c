//! Parts of an operation's responses.

use serde_json::Value;
use utoipa::openapi::header::{Header, HeaderBuilder};
use utoipa::openapi::schema::{AllOfBuilder, ObjectBuilder, Schema, Type};
use utoipa::openapi::{ContentBuilder, Ref, RefOr, ResponseBuilder};

/// A body with the schema `name`.
pub fn content(name: &str, example: Value) -> ContentBuilder {
    ContentBuilder::new()
        .schema(Some(Ref::from_schema_name(name)))
        .example(Some(example))
}

/// The schema `name` with `property` narrowed to `schema`, and `required` fields added.
pub fn narrow(name: &str, property: &str, schema: impl Into<RefOr<Schema>>, required: &[&str]) -> ContentBuilder {
    let mut narrowing = ObjectBuilder::new()
        .schema_type(Type::Object)
        .property(property, schema);
    for field in required {
        narrowing = narrowing.required(*field);
    }
    let both = AllOfBuilder::new().item(Ref::from_schema_name(name)).item(narrowing);
    ContentBuilder::new().schema(Some(both))
}

/// The schema of a boolean that is always `value`.
pub fn just(value: bool) -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::Boolean)
        .enum_values(Some([value]))
}

/// A response in JSON.
pub fn response(description: &str, content: ContentBuilder) -> ResponseBuilder {
    ResponseBuilder::new()
        .description(description)
        .content("application/json", content.build())
}

/// A header with a text such as `example`.
pub(crate) fn text_header(description: &str, example: &str) -> Header {
    let schema = ObjectBuilder::new().schema_type(Type::String).examples([example]);
    HeaderBuilder::new()
        .schema(Some(schema))
        .description(Some(description))
        .build()
}
