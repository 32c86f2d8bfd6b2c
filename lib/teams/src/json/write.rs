use super::value::{Json, Object};

/// The text as `JSON.stringify(value, null, 2)` writes it: two spaces for each level, no newline at the end.
pub fn render(value: &Json) -> String {
    let mut out = String::new();
    write(value, Some(0), &mut out);
    out
}

/// The text as `JSON.stringify(value)` writes it, in one line.
pub fn render_in_line(value: &Json) -> String {
    let mut out = String::new();
    write(value, None, &mut out);
    out
}

/// `depth` is `None` for text in one line.
fn write(value: &Json, depth: Option<usize>, out: &mut String) {
    let inner = depth.map(|depth| depth + 1);
    match value {
        Json::Null => out.push_str("null"),
        Json::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Json::Number(number) => out.push_str(number),
        Json::Text(text) => quote(text, out),
        Json::Array(items) if items.is_empty() => out.push_str("[]"),
        Json::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                out.push(if at == 0 { '[' } else { ',' });
                break_line(inner, out);
                write(item, inner, out);
            }
            break_line(depth, out);
            out.push(']');
        }
        Json::Object(members) if members.is_empty() => out.push_str("{}"),
        Json::Object(members) => {
            for (at, (name, member)) in members.iter().enumerate() {
                out.push(if at == 0 { '{' } else { ',' });
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

/// The member of that name.
pub fn member_of<'a>(object: &'a Object, name: &str) -> Option<&'a Json> {
    object.iter().find(|(there, _)| there == name).map(|(_, value)| value)
}

/// Sets a member in its place, or takes it out. A new one is put behind the nearest member that `order` has before it.
pub fn set_member(object: &mut Object, order: &[&str], name: &str, value: Option<Json>) {
    let there = object.iter().position(|(there, _)| there == name);
    match (there, value) {
        (Some(at), Some(value)) => object[at].1 = value,
        (Some(at), None) => {
            object.remove(at);
        }
        (None, None) => {}
        (None, Some(value)) => {
            let mut before = order.iter().take_while(|known| **known != name).collect::<Vec<_>>();
            before.reverse();
            let at = before
                .iter()
                .find_map(|known| object.iter().position(|(there, _)| there == **known));
            object.insert(at.map_or(0, |at| at + 1), (name.to_owned(), value));
        }
    }
}
