//! A batch as the JSON of `/pipeline`.

use crate::StoreError;
use crate::functions::Words;

/// `[["CMD","arg",...],...]`.
///
/// # Errors
/// [`StoreError::Failed`] when an argument is not UTF-8.
pub(super) fn body(batch: &[Words<'_>]) -> Result<String, StoreError> {
    let mut rows: Vec<Vec<&str>> = Vec::with_capacity(batch.len());
    for words in batch {
        let mut row = Vec::with_capacity(words.len());
        for (position, word) in words.iter().enumerate() {
            row.push(std::str::from_utf8(word).map_err(|_| not_utf8(words, position))?);
        }
        rows.push(row);
    }
    serde_json::to_string(&rows).map_err(|error| StoreError::Failed(format!("the batch cannot be written: {error}")))
}

fn not_utf8(words: &Words<'_>, position: usize) -> StoreError {
    let name = words
        .first()
        .map(|name| String::from_utf8_lossy(name).into_owned())
        .unwrap_or_default();
    StoreError::Failed(format!(
        "argument {position} of {name} is not UTF-8, and Upstash accepts arguments as JSON only"
    ))
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    #[test]
    fn a_batch_is_an_array_of_rows_and_every_utf8_argument_survives() {
        let batch = [
            vec![
                Cow::Borrowed(b"SET".as_slice()),
                Cow::Borrowed("k\"\n\u{0}é🦀".as_bytes()),
            ],
            vec![Cow::Borrowed(b"PING".as_slice())],
        ];
        let json = body(&batch).unwrap();
        let back: Vec<Vec<String>> = serde_json::from_str(&json).unwrap();
        assert_eq!(back, [vec!["SET", "k\"\n\u{0}é🦀"], vec!["PING"]]);
    }

    #[test]
    fn an_argument_that_is_not_utf8_is_refused_by_its_position() {
        let batch = [vec![
            Cow::Borrowed(b"HSET".as_slice()),
            Cow::Borrowed(b"k".as_slice()),
            Cow::Borrowed(b"\xff".as_slice()),
        ]];
        let error = body(&batch).unwrap_err();
        assert!(
            matches!(&error, StoreError::Failed(text) if text.starts_with("argument 2 of HSET")),
            "{error}"
        );
    }
}
