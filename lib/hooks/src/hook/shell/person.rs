//! Acts of a person on intents and locks. An agent that has its person's credential could do them in its shell; the hook refuses those that it
//! sees.

/// Commands of `coord intent` that are a person's, and those that are with an option.
const COMMANDS: [(&str, &[&str]); 6] = [
    ("unblock", &[]),
    ("allow", &[]),
    ("take-over", &[]),
    ("take_over", &[]),
    ("complete", &["--force"]),
    (
        "edit",
        &[
            "--max-turns",
            "--max-tokens",
            "--no-max-turns",
            "--no-max-tokens",
            "--budget",
        ],
    ),
];

/// The ends of the paths of these acts, below `/api/intents/ID`.
const PATHS: [&str; 3] = ["/unblock", "/allow", "/take_over"];

/// The act that `coord WORDS` is.
pub(super) fn in_words(words: &[Option<String>]) -> Option<String> {
    let words: Vec<&str> = words.iter().flatten().map(String::as_str).collect();
    if words.contains(&"release") && words.contains(&"--force") {
        return Some("coord release --force".to_owned());
    }
    if words.contains(&"trust") {
        return Some("coord trust".to_owned());
    }
    let intent = words.iter().position(|word| *word == "intent")?;
    let rest = &words[intent + 1..];
    let command = rest.iter().find(|word| !word.starts_with('-'))?;
    let (name, options) = COMMANDS.iter().find(|(name, _)| name == command)?;
    let is_option = |word: &&str| options.iter().any(|option| word.split('=').next() == Some(option));
    (options.is_empty() || rest.iter().any(is_option)).then(|| format!("coord intent {name}"))
}

/// The act that a request in `command` is, whatever program sends it.
pub(super) fn in_text(command: &str) -> Option<String> {
    if command.contains("api/post_status") && command.contains("\"force\"") {
        return Some("POST /api/post_status with \"force\"".to_owned());
    }
    let rest = command.split("api/intents/").skip(1);
    let is_act = |rest: &str| {
        let path = rest
            .split(['"', '\'', ' ', '?', '\n', ')', ';'])
            .next()
            .unwrap_or_default();
        let act = PATHS.into_iter().find(|act| path.trim_end_matches('/').ends_with(act));
        let is_forced = path.trim_end_matches('/').ends_with("/complete") && command.contains("force");
        act.or(is_forced.then_some("/complete"))
    };
    let act = rest.into_iter().find_map(is_act)?;
    Some(format!("POST /api/intents/ID{act}"))
}
