//! Libraries of functions in the dataset, where FLUSHALL leaves them. They are compiled by the interpreter when a function is
//! called.

use super::commands::{self, Words};
use super::failure::{Failure, Outcome};
use super::glob;
use super::keyspace::{Keyspace, read_u64};
use super::lua::{FLAGS, NO_WRITES, Registration};
use super::records::Tag;
use coord_store::Value;

/// A function, as it is stored.
pub(super) struct StoredFunction {
    /// The number of its library, which each loading has anew.
    pub number: u64,
    flags: u8,
    pub library: String,
    pub name: String,
    description: Option<String>,
}

impl StoredFunction {
    /// Whether it may only read.
    pub fn is_read_only(&self) -> bool {
        self.flags & NO_WRITES != 0
    }

    fn encode(number: u64, library: &str, registered: &Registration) -> Vec<u8> {
        let mut bytes = number.to_be_bytes().to_vec();
        bytes.push(registered.flags);
        // No name has a line end.
        bytes.extend_from_slice(format!("{library}\n{}", registered.name).as_bytes());
        if let Some(description) = &registered.description {
            bytes.extend_from_slice(format!("\n{description}").as_bytes());
        }
        bytes
    }

    fn decode(bytes: &[u8]) -> Result<Self, Failure> {
        let damaged = || Failure::Storage("a record of the store is damaged".to_owned());
        let number = read_u64(bytes, 0).ok_or_else(damaged)?;
        let (flags, rest) = bytes[8..].split_first().ok_or_else(damaged)?;
        let rest = String::from_utf8_lossy(rest);
        let mut parts = rest.splitn(3, '\n').map(str::to_owned);
        Ok(StoredFunction {
            number,
            flags: *flags,
            library: parts.next().ok_or_else(damaged)?,
            name: parts.next().ok_or_else(damaged)?,
            description: parts.next(),
        })
    }
}

/// The key of the function `name`, which is the same in any case.
fn key(name: &[u8]) -> Vec<u8> {
    Tag::Function.name(&name.to_ascii_lowercase())
}

/// The function `name`.
pub(super) fn find(keyspace: &Keyspace, name: &[u8]) -> Result<Option<StoredFunction>, Failure> {
    let found = keyspace.layers.get(&key(name))?;
    found.map(|bytes| StoredFunction::decode(&bytes)).transpose()
}

/// The text of a library.
pub(super) fn code(keyspace: &Keyspace, library: &str) -> Result<Option<Vec<u8>>, Failure> {
    let found = keyspace.layers.get(&Tag::Library.name(library.as_bytes()))?;
    Ok(found.map(|code| code.to_vec()))
}

/// Stores a library, in place of the one with its name. Fails if another one has a function of one of these names.
pub(super) fn store(
    keyspace: &mut Keyspace,
    (library, number): (&str, u64),
    code: &[u8],
    functions: &[Registration],
) -> Result<(), Failure> {
    remove(keyspace, library)?;
    for function in functions {
        if find(keyspace, function.name.as_bytes())?.is_some() {
            return Err(Failure::reply(format!("ERR Function {} already exists", function.name)));
        }
        commands::may_write(keyspace)?;
        keyspace.layers.put(
            key(function.name.as_bytes()),
            StoredFunction::encode(number, library, function),
        );
    }
    keyspace
        .layers
        .put(Tag::Library.name(library.as_bytes()), code.to_vec());
    Ok(())
}

/// Removes a library with its functions. False if there is none.
fn remove(keyspace: &mut Keyspace, library: &str) -> Result<bool, Failure> {
    if code(keyspace, library)?.is_none() {
        return Ok(false);
    }
    for function in functions(keyspace)? {
        if function.library == library {
            keyspace.layers.remove(key(function.name.as_bytes()));
        }
    }
    keyspace.layers.remove(Tag::Library.name(library.as_bytes()));
    Ok(true)
}

/// All functions, in the order of their names.
fn functions(keyspace: &Keyspace) -> Result<Vec<StoredFunction>, Failure> {
    let mut scan = keyspace.layers.scan_prefix(&Tag::Function.all())?;
    let mut functions = Vec::new();
    while let Some((_, function)) = scan.next()? {
        functions.push(StoredFunction::decode(&function)?);
    }
    Ok(functions)
}

/// The names of all libraries.
fn names(keyspace: &Keyspace) -> Result<Vec<String>, Failure> {
    let mut scan = keyspace.layers.scan_prefix(&Tag::Library.all())?;
    let mut names = Vec::new();
    while let Some((key, _)) = scan.next()? {
        names.push(String::from_utf8_lossy(&key[1..]).into_owned());
    }
    Ok(names)
}

/// FUNCTION LIST, DELETE, FLUSH and STATS.
pub(super) fn about(keyspace: &mut Keyspace, words: Words) -> Outcome {
    let Some(what) = words.get(1) else {
        return Err(Failure::arity("function"));
    };
    let ok = || Ok(Value::Status("OK".to_owned()));
    match (what.to_ascii_lowercase().as_slice(), &words[2..]) {
        (b"list", options) => list(keyspace, options),
        (b"delete", [library]) => {
            commands::may_write(keyspace)?;
            match remove(keyspace, &String::from_utf8_lossy(library))? {
                true => ok(),
                false => Err(Failure::fixed("ERR Library not found")),
            }
        }
        (b"delete", _) => Err(Failure::arity("function|delete")),
        (b"flush", how) => {
            match how {
                [] => {}
                [how] if how.eq_ignore_ascii_case(b"ASYNC") || how.eq_ignore_ascii_case(b"SYNC") => {}
                [_] => return Err(Failure::fixed("ERR FUNCTION FLUSH only supports SYNC|ASYNC option")),
                _ => {
                    let text = "ERR unknown subcommand or wrong number of arguments for 'FLUSH'. Try FUNCTION HELP.";
                    return Err(Failure::fixed(text));
                }
            }
            for library in names(keyspace)? {
                commands::may_write(keyspace)?;
                remove(keyspace, &library)?;
            }
            ok()
        }
        (b"stats", []) => stats(keyspace),
        (b"stats", _) => Err(Failure::arity("function|stats")),
        _ => {
            let shown = String::from_utf8_lossy(what);
            let text = format!("ERR unknown subcommand '{shown}'. Try FUNCTION HELP.");
            Err(Failure::reply(text))
        }
    }
}

fn list(keyspace: &Keyspace, options: &[&[u8]]) -> Outcome {
    let (mut pattern, mut has_code) = (None, false);
    let mut options = options.iter();
    while let Some(option) = options.next() {
        if !has_code && option.eq_ignore_ascii_case(b"WITHCODE") {
            has_code = true;
        } else if pattern.is_none() && option.eq_ignore_ascii_case(b"LIBRARYNAME") {
            let given = options
                .next()
                .ok_or(Failure::fixed("ERR library name argument was not given"))?;
            pattern = Some(given.to_ascii_lowercase());
        } else {
            let shown = String::from_utf8_lossy(option);
            return Err(Failure::reply(format!("ERR Unknown argument {shown}")));
        }
    }
    let allowance = &keyspace.layers.allowance;
    let functions = functions(keyspace)?;
    let mut libraries = Vec::new();
    for library in names(keyspace)? {
        let name = library.to_ascii_lowercase();
        if let Some(pattern) = &pattern
            && !glob::matches(pattern, name.as_bytes(), allowance)?
        {
            continue;
        }
        let mut own = Vec::new();
        for function in functions.iter().filter(|function| function.library == library) {
            let set = FLAGS
                .iter()
                .enumerate()
                .filter(|(place, _)| function.flags >> place & 1 == 1);
            own.push(Value::Array(vec![
                Value::bulk("name"),
                allowance.bulk(function.name.as_bytes())?,
                Value::bulk("description"),
                allowance.bulk_or_nil(function.description.as_deref().map(str::as_bytes))?,
                Value::bulk("flags"),
                Value::Array(set.map(|(_, flag)| Value::Status((*flag).to_owned())).collect()),
            ]));
        }
        let mut row = vec![
            Value::bulk("library_name"),
            allowance.bulk(library.as_bytes())?,
            Value::bulk("engine"),
            Value::bulk("LUA"),
            Value::bulk("functions"),
            Value::Array(own),
        ];
        if has_code {
            let code = code(keyspace, &library)?;
            row.extend([Value::bulk("library_code"), allowance.bulk_or_nil(code.as_deref())?]);
        }
        libraries.push(Value::Array(row));
    }
    Ok(Value::Array(libraries))
}

fn stats(keyspace: &Keyspace) -> Outcome {
    let count = |number: usize| Value::Int(number as i64);
    Ok(Value::Array(vec![
        Value::bulk("running_script"),
        Value::Nil,
        Value::bulk("engines"),
        Value::Array(vec![
            Value::bulk("LUA"),
            Value::Array(vec![
                Value::bulk("libraries_count"),
                count(names(keyspace)?.len()),
                Value::bulk("functions_count"),
                count(functions(keyspace)?.len()),
            ]),
        ]),
    ]))
}
