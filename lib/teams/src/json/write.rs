use super::value::{Json, Object};

/// The text that `JSON.stringify(value, null, 2)` writes: two spaces per level, no newline at the end.
pub fn render(value: &Json) -> String {
    let mut out = String::new();
    write(value, Some(0), &mut out);
    out
}

/// The text that `JSON.stringify(value)` writes, on one line.
pub fn render_in_line(value: &Json) -> String {
    let mut out = String::new();
    write(value, None, &mut out);
    out
}

/// `depth` is `None` for text on one line.
fn write(value: &Json, depth: Option<usize>, out: &mut String) {
    let inner = depth.map(|depth| depth + 1);
    match value {
        Json::Null => out.push_str("null"),
        Json::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Json::Number(number) => out.push_str(number),
        Json::Text(text) => quote(text, out),
        Json::Array(items) if items.is_empty() => out.push_str("[]"),
        Json::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                out.push(if index == 0 { '[' } else { ',' });
                break_line(inner, out);
                write(item, inner, out);
            }
            break_line(depth, out);
            out.push(']');
        }
        Json::Object(members) if members.is_empty() => out.push_str("{}"),
        Json::Object(members) => {
            for (index, (name, member)) in members.iter().enumerate() {
                out.push(if index == 0 { '{' } else { ',' });
                break_line(inner, out);
                quote(name, out);
                out.push_str(if depth.is_some() { ": " } else { ":" });
                write(member, inner, out);
            }
            break_line(depth, out);
            out.push('}');
        }
    }
}

fn break_line(depth: Option<usize>, out: &mut String) {
    if let Some(depth) = depth {
        out.push('\n');
        out.extend(std::iter::repeat_n("  ", depth));
    }
}

/// serde_json escapes the same characters as `JSON.stringify`, in the same way.
fn quote(text: &str, out: &mut String) {
    out.push_str(&serde_json::to_string(text).expect("texts have a JSON form"));
}

pub fn member_of<'a>(object: &'a Object, name: &str) -> Option<&'a Json> {
    object.iter().find(|(other, _)| other == name).map(|(_, value)| value)
}

/// Sets or removes a member. A new member comes after the nearest one that precedes it in `order`.
pub fn set_member(object: &mut Object, order: &[&str], name: &str, value: Option<Json>) {
    let index_of = |object: &Object, name: &str| object.iter().position(|(other, _)| other == name);
    match (index_of(object, name), value) {
        (Some(index), Some(value)) => object[index].1 = value,
        (Some(index), None) => {
            object.remove(index);
        }
        (None, None) => {}
        (None, Some(value)) => {
            let end = order.iter().position(|other| *other == name).unwrap_or(order.len());
            let previous = order[..end].iter().rev().find_map(|other| index_of(object, other));
            object.insert(previous.map_or(0, |index| index + 1), (name.to_owned(), value));
        }
    }
}
