//! Shows a line on standard error while an operation takes more than a second, if that is a terminal.

use std::io::{IsTerminal, stderr};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The wait before the line is shown.
const DELAY: Duration = Duration::from_secs(1);

/// The interval between two steps of the spinner.
const STEP: Duration = Duration::from_millis(100);

/// A line that is shown until this is dropped.
#[derive(Debug, Default)]
pub struct Spinner {
    running: Option<(Sender<String>, JoinHandle<()>)>,
}

impl Spinner {
    /// Shows `text` after one second.
    #[must_use]
    pub fn start(text: &str) -> Spinner {
        if !stderr().is_terminal() {
            return Spinner::default();
        }
        let (sender, receiver) = channel::<String>();
        let mut text = text.to_owned();
        let show = move || {
            let mut bar: Option<ProgressBar> = None;
            loop {
                let timeout = if bar.is_some() { STEP } else { DELAY };
                match receiver.recv_timeout(timeout) {
                    Ok(new_text) => text = new_text,
                    Err(RecvTimeoutError::Timeout) if bar.is_none() => bar = Some(create_bar()),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => break,
                }
                if let Some(bar) = &bar {
                    bar.set_message(text.clone());
                    bar.tick();
                }
            }
            if let Some(bar) = bar {
                bar.finish_and_clear();
            }
        };
        let thread = std::thread::Builder::new().name("spinner".to_owned()).spawn(show);
        Spinner {
            running: thread.ok().map(|thread| (sender, thread)),
        }
    }

    /// Shows `text` from now on.
    pub fn show(&self, text: String) {
        if let Some((sender, _)) = &self.running {
            // The thread receives for as long as the spinner exists.
            let _ = sender.send(text);
        }
    }
}

fn create_bar() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg}") {
        bar.set_style(style);
    }
    bar
}

impl Drop for Spinner {
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.running.take() {
            drop(sender);
            let _ = thread.join();
        }
    }
}
