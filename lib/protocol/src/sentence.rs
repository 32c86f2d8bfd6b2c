//! Parts of sentences for agents and people.

use std::fmt::Display;

/// The first `max` of `items`, and the number of the others: `a, b and 3 more`.
#[must_use]
pub fn list_first(items: impl IntoIterator<Item: Display, IntoIter: ExactSizeIterator>, max: usize) -> String {
    let items = items.into_iter();
    let others = items.len().saturating_sub(max);
    let first: Vec<String> = items.take(max).map(|item| item.to_string()).collect();
    let first = first.join(", ");
    match others {
        0 => first,
        count => format!("{first} and {count} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_names_the_first_items_and_counts_the_others() {
        let lists = [0, 1, 2, 5].map(|count| list_first(&["a", "b", "c", "d", "e"][..count], 2));
        assert_eq!(lists, ["", "a", "a, b", "a, b and 3 more"]);
    }
}
