//! Identifies the part of the machine in which this process runs: containers and sandboxes that share a folder have separate
//! networks and processes.

use std::sync::OnceLock;

/// A text that processes with one network and one list of processes have in common, until the machine starts again. `None`
/// if the system does not report it.
pub fn process_scope() -> Option<&'static str> {
    static PLACE: OnceLock<Option<String>> = OnceLock::new();
    PLACE.get_or_init(read).as_deref()
}

#[cfg(target_os = "linux")]
fn read() -> Option<String> {
    let number = |kind: &str| {
        let link = std::fs::read_link(format!("/proc/self/ns/{kind}")).ok()?;
        let link = link.to_str()?.to_owned();
        let number: String = link.chars().filter(char::is_ascii_digit).collect();
        (!number.is_empty()).then_some(number)
    };
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let boot = boot.trim().split('-').next()?.to_owned();
    Some(format!("{boot}-{}-{}", number("net")?, number("pid")?))
}

#[cfg(not(target_os = "linux"))]
fn read() -> Option<String> {
    None
}
