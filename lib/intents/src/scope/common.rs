//! A name that two segments both match.

use super::segment::{ByteSet, Segment, Token};

/// How far a name has come: nothing but dots is no name of a file.
const NOTHING: usize = 0;
const NAME: usize = 3;

/// A name that both match, if there is one. The table has a field for each pair of tokens, so that `steps` grows by their
/// product at most.
pub(super) fn name(one: &Segment, other: &Segment, steps: &mut u64) -> Option<Vec<u8>> {
    for (named, matching) in [(one, other), (other, one)] {
        if let Some(name) = named.name()
            && matching.matches(name, steps)
        {
            return Some(name.to_vec());
        }
    }
    of_tokens(one.tokens(), other.tokens(), steps)
}

/// Whether there is a name that both match.
pub(super) fn exists(one: &Segment, other: &Segment, steps: &mut u64) -> bool {
    match (one.name(), other.name()) {
        (Some(a), Some(b)) if one.tokens().is_empty() && other.tokens().is_empty() => a == b,
        _ => name(one, other, steps).is_some(),
    }
}

/// A name that `segment` matches.
pub(super) fn example(segment: &Segment, steps: &mut u64) -> Option<Vec<u8>> {
    let name = segment.name().map(<[u8]>::to_vec);
    name.or_else(|| of_tokens(segment.tokens(), &[Token::Star], steps))
}

/// Where a field was reached from, and by which byte.
#[derive(Clone, Copy)]
struct From {
    one: bool,
    other: bool,
    progress: usize,
    byte: Option<u8>,
}

fn of_tokens(one: &[Token], other: &[Token], steps: &mut u64) -> Option<Vec<u8>> {
    if one.is_empty()
        || other.is_empty()
        || differ(one.iter(), other.iter())
        || differ(one.iter().rev(), other.iter().rev())
    {
        return None;
    }
    let width = other.len() + 1;
    *steps += ((one.len() + 1) * width) as u64;
    let field = |i: usize, j: usize| i * width + j;
    let mut table: Vec<[Option<From>; 4]> = vec![[None; 4]; (one.len() + 1) * width];
    let start = From {
        one: false,
        other: false,
        progress: NOTHING,
        byte: None,
    };
    table[0][NOTHING] = Some(start);
    for i in 0..=one.len() {
        for j in 0..=other.len() {
            for progress in NOTHING..=NAME {
                if table[field(i, j)][progress].is_none() {
                    continue;
                }
                let (a, b) = (one.get(i), other.get(j));
                let (a_star, b_star) = (a == Some(&Token::Star), b == Some(&Token::Star));
                // A star ends, or both take the same byte; a star stays where it is.
                if a_star {
                    table[field(i + 1, j)][progress].get_or_insert(From {
                        one: true,
                        progress,
                        ..start
                    });
                }
                if b_star {
                    table[field(i, j + 1)][progress].get_or_insert(From {
                        other: true,
                        progress,
                        ..start
                    });
                }
                let (Some(a), Some(b)) = (a, b) else { continue };
                for (byte, next) in bytes(&a.set().and(&b.set()), progress).into_iter().flatten() {
                    let from = From {
                        one: !a_star,
                        other: !b_star,
                        progress,
                        byte: Some(byte),
                    };
                    table[field(i + usize::from(!a_star), j + usize::from(!b_star))][next].get_or_insert(from);
                }
            }
        }
    }
    let (mut i, mut j, mut progress) = (one.len(), other.len(), NAME);
    let mut name = Vec::new();
    while (i, j, progress) != (0, 0, NOTHING) {
        let from = table[field(i, j)][progress]?;
        name.extend(from.byte);
        i -= usize::from(from.one);
        j -= usize::from(from.other);
        progress = from.progress;
    }
    name.reverse();
    Some(name)
}

/// Bytes of `set` to go on with, and how far the name then is.
fn bytes(set: &ByteSet, progress: usize) -> [Option<(u8, usize)>; 2] {
    let dot = set.contains(b'.').then_some((b'.', NAME.min(progress + 1)));
    [set.sample().map(|byte| (byte, NAME)), dot]
}

/// Whether both begin with bytes, and not with the same ones.
fn differ<'t>(one: impl Iterator<Item = &'t Token>, other: impl Iterator<Item = &'t Token>) -> bool {
    let mut pairs = one.zip(other).map_while(|pair| match pair {
        (Token::Byte(a), Token::Byte(b)) => Some(a != b),
        _ => None,
    });
    pairs.any(|differs| differs)
}
