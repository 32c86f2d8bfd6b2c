//! A name that two segments both match.

use super::segment::{ByteSet, Segment, Token};

/// Whether there is a name that both match.
pub(super) fn exists(one: &Segment, other: &Segment, steps: &mut u64) -> bool {
    if let (Some(a), Some(b)) = (one.name(), other.name())
        && a == b
    {
        return true;
    }
    let matches_name_of = |segment: &Segment, named: &Segment, steps: &mut u64| {
        !segment.tokens().is_empty() && named.name().is_some_and(|name| segment.matches(name, steps))
    };
    if matches_name_of(other, one, steps) || matches_name_of(one, other, steps) {
        return true;
    }
    match (one.around_stars(), other.around_stars()) {
        (Some(a), Some(b)) => edges_match(a, b, steps),
        _ => find(one, other, steps).is_some(),
    }
}

/// A name that both match, if there is one.
pub(super) fn find(one: &Segment, other: &Segment, steps: &mut u64) -> Option<Vec<u8>> {
    for (named, segment) in [(one, other), (other, one)] {
        if let Some(name) = named.name()
            && segment.matches(name, steps)
        {
            return Some(name.to_vec());
        }
    }
    if one.tokens().is_empty() || other.tokens().is_empty() {
        return None;
    }
    let sets = match (one.around_stars(), other.around_stars()) {
        (Some(a), Some(b)) => merge_around_stars(a, b, steps)?,
        (None, _) => narrow(one, other, steps)?,
        (_, None) => narrow(other, one, steps)?,
    };
    let name: Vec<u8> = sets.iter().map(|set| set.sample().unwrap_or(b'.')).collect();
    // No file has a name of nothing, of one dot, or of two.
    (!matches!(&*name, b"" | b"." | b"..")).then_some(name)
}

/// A name that `segment` matches.
pub(super) fn example(segment: &Segment) -> Option<Vec<u8>> {
    let literal = segment.name().map(<[u8]>::to_vec);
    literal.or_else(|| {
        let any_name = Segment::new(vec![Token::Star, ANY, Token::Star], None);
        find(segment, &any_name, &mut 0)
    })
}

const ANY: Token = Token::Set(ByteSet::ANY);

/// The tokens before the first star, between the first and the last star, and after the last.
type AroundStars<'t> = [&'t [Token]; 3];

/// Whether two segments with stars have a name in common. Only the tokens before the first and after the last stars
/// decide: each segment has a star that matches the other's text between them.
fn edges_match(one: AroundStars, other: AroundStars, steps: &mut u64) -> bool {
    let [[prefix, _, suffix], [other_prefix, _, other_suffix]] = [one, other];
    let mut prefixes = prefix.iter().zip(other_prefix);
    let mut suffixes = suffix.iter().rev().zip(other_suffix.iter().rev());
    *steps += (prefixes.len() + suffixes.len()) as u64;
    prefixes.all(|(one, other)| one.intersects(other)) && suffixes.all(|(one, other)| one.intersects(other))
}

/// The byte sets of a name that two segments with stars both match.
fn merge_around_stars(one: AroundStars, other: AroundStars, steps: &mut u64) -> Option<Vec<ByteSet>> {
    if !edges_match(one, other, steps) {
        return None;
    }
    let [[prefix, middle, suffix], [other_prefix, other_middle, other_suffix]] = [one, other];
    let sets = |tokens: &[Token]| -> Vec<ByteSet> {
        let without_stars = tokens.iter().filter(|token| **token != Token::Star);
        without_stars.map(Token::byte_set).collect()
    };
    let mut merged = intersect(sets(prefix), sets(other_prefix));
    let reversed = |tokens: &[Token]| sets(tokens).into_iter().rev().collect();
    let mut end = intersect(reversed(suffix), reversed(other_suffix));
    end.reverse();
    merged.extend([sets(middle), sets(other_middle)].concat());
    if merged.len() + end.len() < 3 {
        merged.push(ByteSet::ANY);
    }
    merged.extend(end);
    Some(merged)
}

/// The intersections of both rows from their beginnings, and then the rest of the longer row.
fn intersect(one: Vec<ByteSet>, other: Vec<ByteSet>) -> Vec<ByteSet> {
    let (mut long, short) = if one.len() < other.len() {
        (other, one)
    } else {
        (one, other)
    };
    long.iter_mut()
        .zip(&short)
        .for_each(|(long, short)| *long = long.and(short));
    long
}

/// The byte sets of the names that `fixed`, which has no star, and `glob` both match.
fn narrow(fixed: &Segment, glob: &Segment, steps: &mut u64) -> Option<Vec<ByteSet>> {
    *steps += fixed.tokens().len() as u64;
    let mut sets: Vec<ByteSet> = fixed.tokens().iter().map(Token::byte_set).collect();
    let intersect_at = |start: usize, tokens: &[Token]| {
        let pairs = sets[start..].iter_mut().zip(tokens);
        pairs.for_each(|(set, token)| *set = set.and(&token.byte_set()));
    };
    let is_match = glob.match_row(fixed.tokens(), Token::intersects, intersect_at, steps);
    is_match.then_some(sets)
}
