//! A name that two segments both match.

use super::segment::{ByteSet, Segment, Token};

/// Whether there is a name that both match.
pub(super) fn exists(one: &Segment, other: &Segment, steps: &mut u64) -> bool {
    if let (Some(a), Some(b)) = (one.name(), other.name())
        && a == b
    {
        return true;
    }
    let matches = |named: &Segment, other: &Segment, steps: &mut u64| {
        !other.tokens().is_empty() && named.name().is_some_and(|name| other.matches(name, steps))
    };
    if matches(one, other, steps) || matches(other, one, steps) {
        return true;
    }
    match (one.around_stars(), other.around_stars()) {
        (Some(a), Some(b)) => edges_meet(a, b, steps),
        _ => name(one, other, steps).is_some(),
    }
}

/// A name that both match, if there is one.
pub(super) fn name(one: &Segment, other: &Segment, steps: &mut u64) -> Option<Vec<u8>> {
    for (named, matching) in [(one, other), (other, one)] {
        if let Some(name) = named.name()
            && matching.matches(name, steps)
        {
            return Some(name.to_vec());
        }
    }
    if one.tokens().is_empty() || other.tokens().is_empty() {
        return None;
    }
    let sets = match (one.around_stars(), other.around_stars()) {
        (Some(a), Some(b)) => between_stars(a, b, steps)?,
        (None, _) => fit(one, other, steps)?,
        (_, None) => fit(other, one, steps)?,
    };
    let name: Vec<u8> = sets.iter().map(|set| set.sample().unwrap_or(b'.')).collect();
    // Nothing but one or two dots is no name of a file.
    (!matches!(&*name, b"" | b"." | b"..")).then_some(name)
}

/// A name that `segment` matches.
pub(super) fn example(segment: &Segment) -> Option<Vec<u8>> {
    let name = segment.name().map(<[u8]>::to_vec);
    name.or_else(|| {
        self::name(
            segment,
            &Segment::new(vec![Token::Star, ANY, Token::Star], None),
            &mut 0,
        )
    })
}

const ANY: Token = Token::One(ByteSet::ANY);

/// The tokens before the first star, between the first and the last, and behind it.
type AroundStars<'t> = [&'t [Token]; 3];

/// Whether two segments with stars have a name in common. Only the tokens before the first and behind the last stars
/// decide: each has a star that takes the other's text between them.
fn edges_meet(one: AroundStars, other: AroundStars, steps: &mut u64) -> bool {
    let [[head, _, tail], [other_head, _, other_tail]] = [one, other];
    let mut heads = head.iter().zip(other_head);
    let mut tails = tail.iter().rev().zip(other_tail.iter().rev());
    *steps += (heads.len() + tails.len()) as u64;
    heads.all(|(one, other)| one.meets(other)) && tails.all(|(one, other)| one.meets(other))
}

/// A row of bytes that two segments with stars have in common.
fn between_stars(one: AroundStars, other: AroundStars, steps: &mut u64) -> Option<Vec<ByteSet>> {
    if !edges_meet(one, other, steps) {
        return None;
    }
    let [[head, middle, tail], [other_head, other_middle, other_tail]] = [one, other];
    let sets = |tokens: &[Token]| -> Vec<ByteSet> {
        let without_stars = tokens.iter().filter(|token| **token != Token::Star);
        without_stars.map(Token::set).collect()
    };
    let mut head = intersect(sets(head), sets(other_head));
    let reversed = |tokens: &[Token]| sets(tokens).into_iter().rev().collect();
    let mut tail = intersect(reversed(tail), reversed(other_tail));
    tail.reverse();
    head.extend([sets(middle), sets(other_middle)].concat());
    if head.len() + tail.len() < 3 {
        head.push(ByteSet::ANY);
    }
    head.extend(tail);
    Some(head)
}

/// Both rows from their beginnings on: the common part, and then the rest of the longer one.
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

/// `fixed`, which has no star, as far as `glob` matches it.
fn fit(fixed: &Segment, glob: &Segment, steps: &mut u64) -> Option<Vec<ByteSet>> {
    *steps += fixed.tokens().len() as u64;
    let mut sets: Vec<ByteSet> = fixed.tokens().iter().map(Token::set).collect();
    let narrow = |start: usize, tokens: &[Token]| {
        let places = sets[start..].iter_mut().zip(tokens);
        places.for_each(|(set, token)| *set = set.and(&token.set()));
    };
    let fits = glob.place(fixed.tokens(), Token::meets, narrow, steps);
    fits.then_some(sets)
}
