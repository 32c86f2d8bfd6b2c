//! Responses of an operation that are no errors.

use utoipa::openapi::schema::{AllOfBuilder, ObjectBuilder, Schema, Type};
use utoipa::openapi::{ContentBuilder, Ref, RefOr, ResponseBuilder};

/// A schema that narrows `property` of another.
pub fn narrow(name: &str, property: &str, schema: impl Into<RefOr<Schema>>, required: &[&str]) -> ContentBuilder {
    let mut part = ObjectBuilder::new()
        .schema_type(Type::Object)
        .property(property, schema);
    for field in required {
        part = part.required(*field);
    }
    let all = AllOfBuilder::new().item(Ref::from_schema_name(name)).item(part);
    ContentBuilder::new().schema(Some(all))
}

/// The schema of `value` alone.
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
