//! The first line of a script that begins with `#!`, as Redis 7.0 reads it.

/// The flags on the line.
#[derive(Default)]
pub(super) struct Flags {
    /// `no-writes`
    pub is_read_only: bool,
}

/// The flags of `source`, and the part to compile. An error is the text of an error reply.
pub(super) fn read(source: &[u8]) -> Result<(Flags, &[u8]), String> {
    let mut flags = Flags::default();
    if !source.starts_with(b"#!") {
        return Ok((flags, source));
    }
    let Some(end) = source.iter().position(|byte| *byte == b'\n') else {
        return Err("ERR Invalid script shebang".to_owned());
    };
    let line = String::from_utf8_lossy(&source[..end]);
    let mut words = line.split_ascii_whitespace();
    let engine = words.next().unwrap_or_default();
    if engine != "#!lua" {
        return Err(format!("ERR Unexpected engine in script shebang: {engine}"));
    }
    for word in words {
        let Some(names) = word.strip_prefix("flags=") else {
            return Err(format!("ERR Unknown lua shebang option: {word}"));
        };
        for name in names.split(',').filter(|name| !name.is_empty()) {
            match name {
                "no-writes" => flags.is_read_only = true,
                // The other flags permit nothing that is forbidden here.
                "allow-oom" | "allow-stale" | "no-cluster" | "allow-cross-slot-keys" => {}
                _ => return Err(format!("ERR Unexpected flag in script shebang: {name}")),
            }
        }
    }
    // The line end stays, so that line numbers in errors are those of the source.
    Ok((flags, &source[end..]))
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn the_first_line_is_read_as_in_redis() {
        let flags = |source: &str| read(source.as_bytes()).map(|(flags, body)| (flags.is_read_only, body.to_vec()));
        assert_eq!(flags("return 1"), Ok((false, b"return 1".to_vec())));
        assert_eq!(flags("#!lua\nreturn 1"), Ok((false, b"\nreturn 1".to_vec())));
        assert_eq!(flags("#!lua flags=no-writes\nx"), Ok((true, b"\nx".to_vec())));
        assert_eq!(flags("#!lua"), Err("ERR Invalid script shebang".to_owned()));
        assert_eq!(
            flags("#!foo\nx"),
            Err("ERR Unexpected engine in script shebang: #!foo".to_owned())
        );
        assert_eq!(
            flags("#!lua flags=bad\nx"),
            Err("ERR Unexpected flag in script shebang: bad".to_owned())
        );
    }
}
