//! Pauses between the attempts of a call.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// The pause before a retry, the first of which has the number 0; `None` after the last of `pauses`.
pub fn pause(pauses: &[Duration], retry: usize) -> Option<Duration> {
    let pause = pauses.get(retry)?;
    // Between 0.5 and 1.5 times the setting, so that callers do not all retry at once. A new `RandomState` is the
    // standard library's source of random bits.
    let spread = RandomState::new().hash_one(retry) % 1024;
    Some(pause.mul_f64(0.5 + spread as f64 / 1024.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_within_half_of_its_setting_and_ends_with_the_list() {
        let pauses = [50, 200].map(Duration::from_millis);
        for _ in 0..100 {
            let first = pause(&pauses, 0).expect("a first pause");
            assert!((25..75).contains(&first.as_millis()), "{first:?}");
            let second = pause(&pauses, 1).expect("a second pause");
            assert!((100..300).contains(&second.as_millis()), "{second:?}");
            assert_eq!(pause(&pauses, 2), None);
        }
    }
}
