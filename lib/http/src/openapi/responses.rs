//! Responses of an operation that are not errors.

use utoipa::openapi::schema::{AllOfBuilder, ObjectBuilder, Schema, Type};
use utoipa::openapi::{ContentBuilder, Ref, RefOr, ResponseBuilder};

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
