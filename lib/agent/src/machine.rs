//! Identifies the part of the machine in which this process runs: containers and sandboxes that share a folder have
//! separate networks and processes.

use std::sync::OnceLock;

/// An id that all processes in the same network and process namespaces share until the machine restarts. `None` on
/// systems that report no namespaces.
pub fn process_scope() -> Option<&'static str> {
    static SCOPE: OnceLock<Option<String>> = OnceLock::new();
    SCOPE.get_or_init(read).as_deref()
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
