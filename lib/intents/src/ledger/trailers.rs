use std::fmt;

use super::point::Point;
use crate::intent::is_valid_id;

/// The intents and ledger points of a commit, in lines of its message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trailers {
    /// The intents that the commit belongs to, each in a line `Coord-Intent: ID`.
    pub intents: Vec<String>,
    /// The ledger at the time of the commit, in a line `Coord-Ledger: COUNT:HASH`.
    pub points: Vec<Point>,
}

const INTENT: &str = "Coord-Intent";
const LEDGER: &str = "Coord-Ledger";

impl Trailers {
    /// Reads the message of a commit. Reads every line, not only the last paragraph, because a squash joins several
    /// messages. As in git, the case of names does not matter. Invalid values are ignored.
    pub fn read(message: &str) -> Self {
        let mut trailers = Trailers::default();
        for (name, value) in message.lines().filter_map(|line| line.split_once(':')) {
            let value = value.trim();
            if name.eq_ignore_ascii_case(INTENT) && is_valid_id(value) {
                if !trailers.intents.iter().any(|intent| intent == value) {
                    trailers.intents.push(value.to_owned());
                }
            } else if name.eq_ignore_ascii_case(LEDGER)
                && let Ok(point) = value.parse()
            {
                trailers.points.push(point);
            }
        }
        trailers
    }
}

/// The lines of the trailers, each with its newline.
impl fmt::Display for Trailers {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for intent in &self.intents {
            writeln!(out, "{INTENT}: {intent}")?;
        }
        for point in &self.points {
            writeln!(out, "{LEDGER}: {point}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trailers_are_read_as_they_are_written() {
        let trailers = Trailers {
            intents: vec!["018f6a1c-7a52".to_owned(), "REQ-1".to_owned()],
            points: vec![Point {
                seq: 1042,
                ..Point::start("github.com/acme/shop")
            }],
        };
        let text = trailers.to_string();
        assert_eq!(
            text,
            "Coord-Intent: 018f6a1c-7a52\nCoord-Intent: REQ-1\n\
             Coord-Ledger: 1042:5a116337e5727bac89550cd157109e6381dc2dddeb475f74d3216de3b13de473\n"
        );
        assert_eq!(Trailers::read(&format!("Pool connections\n\n{text}")), trailers);
        let squashed = format!(
            "Pool (#3)\n\n* One\n\n{text}\n* Two\n\n{}",
            text.to_lowercase().replace("req", "REQ")
        );
        assert_eq!(
            Trailers::read(&squashed.replace('\n', "\r\n")).intents,
            trailers.intents
        );
        assert_eq!(Trailers::read(&squashed).points.len(), 2);
    }

    #[test]
    fn values_that_are_none_are_left_out() {
        let message =
            "x\n\nCoord-Intent: \nCoord-Intent: a b\nCoord-Intent: ../x\n Coord-Intent: y\nCoord-Ledger: 3:abc\n";
        assert_eq!(Trailers::read(message), Trailers::default());
    }
}
