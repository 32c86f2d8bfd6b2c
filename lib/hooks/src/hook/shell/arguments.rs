//! The arguments of a program in a command.

/// The words after the name of a program. `None` is a word that the shell replaces.
pub(super) struct Arguments<'a>(pub(super) &'a [Option<String>]);

impl<'a> Arguments<'a> {
    /// The words that are neither options nor values of options. The values of the options `with_value` are separate
    /// words.
    pub(super) fn operands(&self, with_value: &'a [&str]) -> impl Iterator<Item = &'a str> {
        let mut is_value = false;
        let mut options_ended = false;
        self.0.iter().filter_map(move |word| {
            if std::mem::take(&mut is_value) {
                return None;
            }
            let word = word.as_deref()?;
            if options_ended || word == "-" || !word.starts_with('-') {
                return Some(word);
            }
            options_ended = word == "--";
            is_value = with_value.contains(&word);
            None
        })
    }

    /// The value of the option with one of `names`: the next word, or the text after `=`.
    pub(super) fn value(&self, names: &[&str]) -> Option<&'a str> {
        for (index, word) in self.0.iter().enumerate() {
            let word = word.as_deref().unwrap_or_default();
            if names.contains(&word) {
                return self.0.get(index + 1)?.as_deref();
            }
            let attached = names.iter().find_map(|name| word.strip_prefix(name)?.strip_prefix('='));
            if attached.is_some() {
                return attached;
            }
        }
        None
    }
}
