//! Interfaces of files.

use std::io::Write;

use anyhow::bail;
use coord_domain::CommitSha;
use coord_graph::Snapshot;
use coord_interfaces::{InterfaceResult, InterfaceUnknown};
use serde_json::{Value, json};

use super::args::GraphFormat;
use super::print::escape;

/// Prints the interfaces of the files at `paths`, which are tracked. In tab-separated form, a file has a line
/// `FILE DIGEST`, and for each name a line `FILE DIGEST NAME`. A file with an unknown interface has `FILE - REASON`.
pub(super) fn write(
    out: &mut impl Write,
    snapshot: &Snapshot,
    commit: &CommitSha,
    format: Option<GraphFormat>,
    paths: &[String],
) -> anyhow::Result<()> {
    let interface_of = |path: &str| -> InterfaceResult {
        // A file past the limits of the build has no record.
        let interface = snapshot.interface(path).cloned();
        interface.unwrap_or(Err(InterfaceUnknown::TooLarge))
    };
    match format.unwrap_or(GraphFormat::Tsv) {
        GraphFormat::Tsv => {
            for path in paths {
                write_tsv(out, &escape(path), &interface_of(path))?;
            }
        }
        GraphFormat::Json => {
            let files: Vec<Value> = paths.iter().map(|path| to_json(path, &interface_of(path))).collect();
            writeln!(out, "{}", json!({"version": commit.as_str(), "interfaces": files}))?;
        }
        GraphFormat::Dot | GraphFormat::Mermaid => bail!("--interface prints tsv or json"),
    }
    Ok(())
}

fn write_tsv(out: &mut impl Write, path: &str, interface: &InterfaceResult) -> std::io::Result<()> {
    match interface {
        Err(reason) => writeln!(out, "{path}\t-\t{}", reason.name()),
        Ok(interface) => {
            writeln!(out, "{path}\t{:032x}", interface.digest)?;
            for (name, digest) in &interface.names {
                writeln!(out, "{path}\t{digest:016x}\t{name}")?;
            }
            if interface.left_out > 0 {
                writeln!(out, "{path}\t-\t{} more", interface.left_out)?;
            }
            Ok(())
        }
    }
}

fn to_json(path: &str, interface: &InterfaceResult) -> Value {
    match interface {
        Err(reason) => json!({"id": path, "unknown": reason.name()}),
        Ok(interface) => json!({
            "id": path,
            "digest": format!("{:032x}", interface.digest),
            "names": interface.names.iter().map(|(name, digest)| {
                json!({"name": name, "digest": format!("{digest:016x}")})
            }).collect::<Vec<Value>>(),
            "left_out": interface.left_out,
        }),
    }
}
