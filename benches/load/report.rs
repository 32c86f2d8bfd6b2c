//! The report: markdown tables on standard output.

use std::fmt::Display;
use std::time::Duration;

use hdrhistogram::Histogram;

/// A table that is printed row by row.
pub struct Table;

impl Table {
    /// Prints a title, a sentence about the measurement, and the column heads.
    pub fn begin(title: &str, about: &str, heads: &[&str]) -> Self {
        println!("\n### {title}\n\n{about}\n");
        println!("| {} |\n|{}", heads.join(" | "), "---|".repeat(heads.len()));
        Table
    }

    pub fn row(&self, cells: &[&dyn Display]) {
        let cells: Vec<String> = cells.iter().map(ToString::to_string).collect();
        println!("| {} |", cells.join(" | "));
    }
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
