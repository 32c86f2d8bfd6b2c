//! `{a,b}`, expanded as shells do.

use super::refusal::{MAX_PATTERNS, Refusal};

/// `text` with one alternative of each `{a,b}`, in order, 64 at most. Braces without a comma stand for themselves.
pub(super) fn expanded(text: &str) -> Result<Vec<String>, Refusal> {
    let mut done = Vec::new();
    let mut open = vec![(text.to_owned(), 0)];
    while let Some((text, from)) = open.pop() {
        let Some(group) = first_group(&text, from) else {
            done.push(text);
            continue;
        };
        // The first is done first.
        for range in group.alternatives.iter().rev() {
            let next = format!("{}{}{}", &text[..group.start], &text[range.clone()], &text[group.end..]);
            open.push((next, group.start));
        }
        if done.len() + open.len() > MAX_PATTERNS {
            return Err(Refusal::TooManyAlternatives(done.into_iter().next().unwrap_or(text)));
        }
    }
    Ok(done)
}

struct Group {
    start: usize,
    end: usize,
    alternatives: Vec<std::ops::Range<usize>>,
}

/// The first braces at or after `from` that have a comma.
fn first_group(text: &str, from: usize) -> Option<Group> {
    let bytes = text.as_bytes();
    // The braces that are open: where they begin, and where their alternatives do. One pass finds all groups.
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
