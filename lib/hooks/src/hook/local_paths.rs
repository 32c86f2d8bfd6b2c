//! Shortens the paths of this machine in records. They become relative to the root of the working copy, or to the home
//! folder (`~`).

use std::path::Path;

use serde_json::Value;

/// Shortens the paths in all texts of `value`.
pub(super) fn shorten(value: &mut Value, root: Option<&Path>, home: Option<&Path>) {
    match value {
        Value::String(text) => {
            for (folder, itself, below) in [(root, ".", ""), (home, "~", "~/")] {
                // The root of the file system tells nothing about the user.
                if let Some(folder) = folder.and_then(Path::to_str).filter(|folder| folder.len() > 1) {
                    *text = replace_folder(text, folder, itself, below);
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| shorten(value, root, home)),
        Value::Object(members) => members.values_mut().for_each(|value| shorten(value, root, home)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Replaces `folder` in `text` with `itself`, and `folder` and a slash with `below`. Names that only contain its path
/// stay.
fn replace_folder(text: &str, folder: &str, itself: &str, below: &str) -> String {
    let is_name_character = |character: char| character.is_alphanumeric() || "._-".contains(character);
    let mut shortened = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(folder) {
        shortened.push_str(before);
        rest = match after.chars().next() {
            _ if shortened.ends_with(is_name_character) => {
                shortened.push_str(folder);
                after
            }
            Some('/') => {
                shortened.push_str(below);
                &after[1..]
            }
            Some(next) if is_name_character(next) => {
                shortened.push_str(folder);
                after
            }
            _ => {
                shortened.push_str(itself);
                after
            }
        };
    }
    shortened + rest
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn paths_are_from_the_root_or_from_home_and_other_names_stay() {
        let (root, home) = (Path::new("/home/ada/shop"), Path::new("/home/ada"));
        for (text, expected) in [
            ("/home/ada/shop/src/a.ts", "src/a.ts"),
            ("cd /home/ada/shop && ls '/home/ada/shop'", "cd . && ls '.'"),
            ("cat /home/ada/notes /home/ada/shop2/a", "cat ~/notes ~/shop2/a"),
            (
                "/home/adam/x /mnt/home/ada/y /home/ada",
                "/home/adam/x /mnt/home/ada/y ~",
            ),
            ("/home/ada/shop.git", "~/shop.git"),
            ("/home/ada/größe", "~/größe"),
            ("src/a.ts", "src/a.ts"),
        ] {
            let mut value = json!({ "a": [text] });
            shorten(&mut value, Some(root), Some(home));
            assert_eq!(value, json!({ "a": [expected] }), "{text}");
        }
        let mut value = json!("/a /");
        shorten(&mut value, Some(Path::new("/")), None);
        assert_eq!(value, json!("/a /"));
    }
}
