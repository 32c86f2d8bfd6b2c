use super::{Invalid, quote};

/// The id of an event in the log of its repository: `MILLISECONDS-NUMBER`, as in the store's stream. Ids only increase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EventId {
    milliseconds: u64,
    number: u64,
}

/// Any number with this many digits fits in 64 bits.
const MAX_DIGITS: usize = 19;

impl EventId {
    /// The position before every event.
    pub const START: EventId = EventId {
        milliseconds: 0,
        number: 0,
    };

    /// # Errors
    /// When it is not two whole numbers with a hyphen between them.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let parse_number = |digits: &str| {
            let is_number = digits.len() <= MAX_DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit());
            digits.parse::<u64>().ok().filter(|_| is_number)
        };
        let id = text.split_once('-').and_then(|(milliseconds, number)| {
            Some(EventId {
                milliseconds: parse_number(milliseconds)?,
                number: parse_number(number)?,
            })
        });
        id.ok_or_else(|| {
            Invalid(format!(
                "{} is not the id of an event; send the cursor of an answer, such as 1795306224000-0",
                quote(text)
            ))
        })
    }

    /// The greatest smaller id; [`Self::START`] if there is none.
    #[must_use]
    pub fn previous(self) -> EventId {
        match (self.milliseconds, self.number) {
            (_, 1..) => EventId {
                number: self.number - 1,
                ..self
            },
            (1.., 0) => EventId {
                milliseconds: self.milliseconds - 1,
                number: u64::MAX,
            },
            (0, 0) => EventId::START,
        }
    }

    /// The smallest greater id; the id itself if there is none.
    #[must_use]
    pub fn next(self) -> EventId {
        match (self.milliseconds, self.number) {
            (_, ..u64::MAX) => EventId {
                number: self.number + 1,
                ..self
            },
            (..u64::MAX, u64::MAX) => EventId {
                milliseconds: self.milliseconds + 1,
                number: 0,
            },
            (u64::MAX, u64::MAX) => self,
        }
    }
}

impl std::fmt::Display for EventId {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}-{}", self.milliseconds, self.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_two_numbers_and_is_written_as_it_was_read() {
        for text in ["0-0", "1795306224000-7", "9999999999999999999-9999999999999999999"] {
            assert_eq!(EventId::parse(text).unwrap().to_string(), text);
        }
        for text in [
            "",
            "-",
            "1",
            "1-",
            "-1",
            "1-2-3",
            "+1-2",
            "1- 2",
            "$",
            "10000000000000000000-0",
        ] {
            let message = EventId::parse(text).unwrap_err().0;
            assert!(message.contains("is not the id of an event"), "{text}: {message}");
        }
    }

    #[test]
    fn the_next_id_after_the_last_of_a_millisecond_is_the_first_of_the_next() {
        let id = EventId::parse("6-0").unwrap();
        assert_eq!(id.previous().next(), id);
        let greatest = EventId {
            milliseconds: u64::MAX,
            number: u64::MAX,
        };
        assert_eq!(greatest.next(), greatest);
    }

    #[test]
    fn the_next_id_is_the_least_that_is_greater() {
        let next = |text: &str| EventId::parse(text).unwrap().next().to_string();
        assert_eq!(next("5-0"), "5-1");
        assert_eq!(next("5-9999999999999999999"), "5-10000000000000000000");
        assert!(EventId::parse("5-1").unwrap() > EventId::parse("5-0").unwrap());
        assert!(EventId::START < EventId::parse("0-1").unwrap());
    }
}
