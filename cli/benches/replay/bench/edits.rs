//! The edits of a task, one file after the other: each of them is claimed, or claimed anew, by the hook before it.

use std::collections::VecDeque;
use std::time::Duration;

use anyhow::{Result, bail};

use super::agent::{Agent, ClaimAnswer, FinalClaimAnswer};

impl Agent<'_> {
    /// Edits all files of a task in `time`. A refused edit comes after the others; where all that are left are refused, it waits.
    pub(super) async fn edit_all(&mut self, place: usize, time: Duration) -> Result<()> {
        let run = self.run;
        self.edits = true;
        let mut left: VecDeque<&str> = run.paths(place).into();
        let each = time / u32::try_from(left.len()).unwrap_or(u32::MAX);
        let mut refused = 0;
        while let Some(path) = left.pop_front() {
            if let ClaimAnswer::Refused(_) = self.claim_once(place, &[path]).await? {
                if refused < left.len() {
                    refused += 1;
                    left.push_back(path);
                    continue;
                }
                let begin = run.clock.now();
                let insisted = self.insist(place, &[path]).await?;
                run.waited(place, run.clock.now() - begin);
                if insisted == FinalClaimAnswer::Mutual {
                    return self.edit_anew(place, time).await;
                }
            }
            refused = 0;
            self.work_on(each).await?;
        }
        Ok(())
    }

    /// Called when agents would wait for each other: releases the files, claims all of them at once, and edits them
    /// again.
    async fn edit_anew(&mut self, place: usize, time: Duration) -> Result<()> {
        let run = self.run;
        run.account.borrow_mut().given_up += 1;
        self.abandon().await?;
        run.began_anew(place);
        let begin = run.clock.now();
        let insisted = self.insist(place, &run.paths(place)).await?;
        if insisted == FinalClaimAnswer::Mutual {
            bail!("an agent without files is told that others wait for them");
        }
        run.waited(place, run.clock.now() - begin);
        self.work_on(time).await
    }
}
