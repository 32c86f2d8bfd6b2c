//! The report: markdown tables on standard output.

use std::fmt::Display;
use std::time::Duration;

use hdrhistogram::Histogram;

/// Prints a title, a sentence about the measurement, and the heads of a table's columns, separated as in Markdown.
pub fn table(title: &str, about: &str, heads: &str) {
    let columns = heads.split(" | ").count();
    println!("\n### {title}\n\n{about}\n\n| {heads} |\n|{}", "---|".repeat(columns));
}

/// Prints a row of the last table.
pub fn row(cells: impl Display) {
    println!("| {cells} |");
}

/// The load of the machine before a measurement.
pub fn machine_load() -> String {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    load.split(' ').next().unwrap_or_default().to_owned()
}

/// Reports progress on standard error.
pub fn progress(text: &str) {
    eprintln!("{text} ...");
}

/// Latencies, in nanoseconds.
pub struct Latencies(Histogram<u64>);

impl Default for Latencies {
    fn default() -> Self {
        // Three digits, up to a minute; longer times count as a minute.
        Latencies(Histogram::new_with_max(60_000_000_000, 3).expect("these bounds are allowed"))
    }
}

impl Latencies {
    pub fn add(&mut self, time: Duration) {
        self.0
            .saturating_record(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
    }

    pub fn merge(&mut self, other: &Latencies) {
        // Both have the same bounds, so that nothing is lost.
        let _ = self.0.add(&other.0);
    }

    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// The latency at `quantile`, in microseconds.
    pub fn micros(&self, quantile: f64) -> f64 {
        self.0.value_at_quantile(quantile) as f64 / 1000.0
    }
}
