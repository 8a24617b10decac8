//! A run that is on its way in this process: its record as it grows, its output, and who listens.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::runs::events::{self, Cursor, Event};
use crate::runs::output::Collected;
use crate::runs::{Attempt, Output, Run, Stream};

/// A run on its way.
pub struct Live {
    state: Mutex<State>,
    version: watch::Sender<u64>,
    /// When an answer is there at the latest.
    pub deadline: Instant,
    /// Ends the run.
    pub cancel: CancellationToken,
}

struct State {
    run: Run,
    collected: Collected,
    /// The output once no more comes.
    output: Option<Output>,
    output_bytes_max: usize,
}

impl Live {
    /// A run that begins.
    pub fn new(run: Run, deadline: Instant, output_bytes_max: usize) -> Self {
        let collected = Collected::default();
        Self {
            state: Mutex::new(State { run, collected, output: None, output_bytes_max }),
            version: watch::Sender::new(0),
            deadline,
            cancel: CancellationToken::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads something of the record as it is now.
    pub fn read<T>(&self, read: impl FnOnce(&Run) -> T) -> T {
        read(&self.state().run)
    }

    /// The record as it is now.
    pub fn run(&self) -> Run {
        self.read(Run::clone)
    }

    /// Whether the record will not change any more.
    pub fn is_final(&self) -> bool {
        self.read(Run::is_final)
    }

    /// The id of the run.
    pub fn id(&self) -> String {
        self.read(|run| run.id.clone())
    }

    /// Whether any of the code may have been executed in the attempt that is under way or was the last.
    pub fn code_started(&self) -> bool {
        self.read(|run| run.attempts.last().is_some_and(|attempt| attempt.code_started))
    }

    /// The record and the output as they are now.
    pub fn snapshot(&self) -> (Run, Output) {
        let state = self.state();
        let output = state.output.clone().unwrap_or_else(|| Output {
            stdout: state.collected.text(Stream::Stdout).to_owned(),
            stderr: state.collected.text(Stream::Stderr).to_owned(),
            ..Output::default()
        });
        (state.run.clone(), output)
    }

    /// Changes the record, and tells who listens.
    pub fn change<T>(&self, change: impl FnOnce(&mut Run) -> T) -> T {
        let result = change(&mut self.state().run);
        self.tell();
        result
    }

    /// Changes the attempt of a number, and tells who listens. Returns it as it is then.
    pub fn change_attempt(
        &self,
        number: u32,
        change: impl FnOnce(&mut Attempt),
    ) -> Option<Attempt> {
        self.change(|run| {
            let attempt = run.attempts.iter_mut().find(|attempt| attempt.number == number)?;
            change(attempt);
            Some(attempt.clone())
        })
    }

    /// Takes some output.
    pub fn output(&self, stream: Stream, bytes: &[u8]) {
        let mut state = self.state();
        let max = state.output_bytes_max;
        state.collected.push(stream, bytes, max);
        drop(state);
        self.tell();
    }

    /// Counts output that was dropped before it came here.
    pub fn dropped(&self, stream: Stream, bytes: u64) {
        self.state().collected.dropped(stream, bytes);
    }

    /// All output, now that no more comes.
    pub fn end_output(&self) -> Output {
        let mut state = self.state();
        let output = state.collected.end();
        state.output = Some(output.clone());
        output
    }

    /// The next event after a cursor, and whether everything was told.
    pub fn next_event(&self, at: Cursor) -> (Option<(Event, Cursor)>, bool) {
        let state = self.state();
        let output = state.output.as_ref();
        let stdout = output.map_or_else(|| state.collected.text(Stream::Stdout), |all| &all.stdout);
        let stderr = output.map_or_else(|| state.collected.text(Stream::Stderr), |all| &all.stderr);
        let event = events::next(&state.run, stdout, stderr, at);
        let is_all = event.is_none() && state.run.is_final();
        (event, is_all)
    }

    /// Who wants to know of changes.
    pub fn subscribe(&self) -> watch::Receiver<u64> {
        self.version.subscribe()
    }

    fn tell(&self) {
        self.version.send_modify(|version| *version += 1);
    }
}
