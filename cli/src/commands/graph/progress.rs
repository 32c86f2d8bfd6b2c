//! The progress bar of a build.

use std::io::{IsTerminal, stderr};
use std::sync::Arc;

use coord_builds::build::ProgressSink;
use coord_domain::BuildProgress;
use indicatif::{ProgressDrawTarget, ProgressStyle};

/// A bar on standard error if that is a terminal, else nothing.
pub(super) struct ProgressBar(Option<indicatif::ProgressBar>);

impl ProgressBar {
    pub(super) fn on_terminal() -> Self {
        if !stderr().is_terminal() {
            return ProgressBar(None);
        }
        let bar = indicatif::ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("Reading {bar:40} {human_pos} of {human_len} files, {eta} left")
        {
            bar.set_style(style);
        }
        ProgressBar(Some(bar))
    }

    pub(super) fn sink(&self) -> ProgressSink {
        let Some(bar) = self.0.clone() else {
            return Arc::new(|_| {});
        };
        Arc::new(move |progress: BuildProgress| {
            let (wanted, scanned) = (progress.wanted as u64, progress.scanned as u64);
            // Each call may draw. Several threads report, and the bar must not move back.
            if bar.length() != Some(wanted) {
                bar.set_length(wanted);
            }
            if scanned > bar.position() {
                bar.set_position(scanned);
            }
        })
    }

    pub(super) fn finish(&self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
