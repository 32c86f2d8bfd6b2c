//! `{a,b}`, expanded as shells do.

use super::refusal::{MAX_PATTERNS, Refusal};

/// Expands `text` to one text for each combination of alternatives, in order, at most 64. Braces without a comma are
/// literal.
pub(super) fn expand(text: &str) -> Result<Vec<String>, Refusal> {
    let mut expanded = Vec::new();
    let mut pending = vec![(text.to_owned(), 0)];
    while let Some((text, from)) = pending.pop() {
        let Some(group) = first_group(&text, from) else {
            expanded.push(text);
            continue;
        };
        // The first alternative is expanded first.
        for range in group.alternatives.iter().rev() {
            let next = format!("{}{}{}", &text[..group.start], &text[range.clone()], &text[group.end..]);
            pending.push((next, group.start));
        }
        if expanded.len() + pending.len() > MAX_PATTERNS {
            return Err(Refusal::TooManyAlternatives(
                expanded.into_iter().next().unwrap_or(text),
            ));
        }
    }
    Ok(expanded)
}

struct Group {
    start: usize,
    end: usize,
    alternatives: Vec<std::ops::Range<usize>>,
}

/// The first braces at or after `from` that have a comma.
fn first_group(text: &str, from: usize) -> Option<Group> {
    let bytes = text.as_bytes();
    // The open braces: their start, and the starts of their alternatives. One pass finds all groups.
    let mut open: Vec<(usize, Vec<usize>)> = Vec::new();
    let mut first: Option<Group> = None;
    let mut at = from;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            b'{' => open.push((at, vec![at + 1])),
            b',' => {
                if let Some((_, starts)) = open.last_mut() {
                    starts.push(at + 1);
                }
            }
            b'}' => {
                if let Some((start, starts)) = open.pop()
                    && starts.len() > 1
                    && first.as_ref().is_none_or(|group| start < group.start)
                {
                    let ends = starts[1..].iter().map(|next| next - 1).chain([at]);
                    first = Some(Group {
                        start,
                        end: at + 1,
                        alternatives: starts.iter().copied().zip(ends).map(|(from, to)| from..to).collect(),
                    });
                }
                if open.is_empty() && first.is_some() {
                    return first;
                }
            }
            _ => {}
        }
        at += 1;
    }
    first
}
