//! Circuit breakers: a provider whose platform fails again and again is left out for a while. Time comes in as a
//! parameter.

use std::time::{Duration, Instant};

/// Failures in a row after which a provider is left out.
const FAILURES_MAX: u32 = 3;
/// How long it is left out at first; twice as long after every trial that fails.
const PAUSE: Duration = Duration::from_secs(30);
/// How long it is left out at most.
const PAUSE_MAX: Duration = Duration::from_mins(10);

/// What is known of a provider's last answers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Breaker {
    failures: u32,
    /// Until when it is left out, and how long the pause is.
    pause: Option<(Instant, Duration)>,
    /// Since when one run tries whether it works again.
    trial: Option<Instant>,
    /// Until when it wants to be left alone, because we asked too often.
    rest: Option<Instant>,
}

/// Whether a provider may be tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// It works.
    Closed,
    /// It may be tried once, to see whether it works again.
    Trial,
    /// It is left out.
    Open,
}

impl Breaker {
    /// Whether it may be tried at an instant.
    pub fn state(&self, now: Instant) -> State {
        if self.rest.is_some_and(|until| now < until) {
            return State::Open;
        }
        match self.pause {
            None => State::Closed,
            Some((until, _)) if now < until => State::Open,
            // A trial that told nothing for a whole pause was lost.
            Some((_, pause)) if self.trial.is_some_and(|since| now < since + pause) => State::Open,
            Some(_) => State::Trial,
        }
    }

    /// It is about to be tried.
    pub fn tries(&mut self, now: Instant) {
        if self.state(now) == State::Trial {
            self.trial = Some(now);
        }
    }

    /// It did what it should: also where the code failed or timed out.
    pub fn works(&mut self) {
        *self = Self { rest: self.rest, ..Self::default() };
    }

    /// It wants to be left alone until an instant. That says nothing of its platform.
    pub fn rests(&mut self, until: Instant) {
        self.rest = self.rest.max(Some(until));
    }

    /// Its platform failed.
    pub fn fails(&mut self, now: Instant) {
        self.failures = self.failures.saturating_add(1);
        let pause = match (self.pause, self.trial.take()) {
            (Some((_, pause)), Some(_)) => (pause * 2).min(PAUSE_MAX),
            (Some(_), None) => return,
            (None, _) => PAUSE,
        };
        if self.failures >= FAILURES_MAX {
            self.pause = Some((now + pause, pause));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_is_left_out_after_failures_in_a_row_and_tried_once_after_the_pause() {
        let start = Instant::now();
        let mut breaker = Breaker::default();
        breaker.fails(start);
        breaker.fails(start);
        breaker.works();
        for _ in 0..FAILURES_MAX - 1 {
            breaker.fails(start);
            assert_eq!(breaker.state(start), State::Closed);
        }
        breaker.fails(start);
        assert_eq!(breaker.state(start), State::Open);
        let later = start + PAUSE;
        assert_eq!(breaker.state(later), State::Trial);
        breaker.tries(later);
        assert_eq!(breaker.state(later), State::Open, "one trial at a time");
        breaker.fails(later);
        assert_eq!(breaker.state(later + PAUSE), State::Open, "the pause is longer now");
        let again = later + PAUSE * 2;
        assert_eq!(breaker.state(again), State::Trial);
        breaker.tries(again);
        breaker.works();
        assert_eq!(breaker.state(again), State::Closed);
    }

    #[test]
    fn a_provider_that_wants_to_be_left_alone_is_and_that_is_no_failure() {
        let now = Instant::now();
        let mut breaker = Breaker::default();
        breaker.rests(now + PAUSE);
        breaker.rests(now + PAUSE / 2);
        assert_eq!(breaker.state(now), State::Open);
        assert_eq!(breaker.state(now + PAUSE), State::Closed);
        breaker.works();
        assert_eq!(breaker.state(now), State::Open, "another run's answer is no leave to ask");
    }

    #[test]
    fn the_pause_has_an_end_however_often_a_trial_fails() {
        let mut now = Instant::now();
        let mut breaker = Breaker::default();
        for _ in 0..FAILURES_MAX {
            breaker.fails(now);
        }
        for _ in 0..20 {
            now += PAUSE_MAX;
            assert_eq!(breaker.state(now), State::Trial);
            breaker.tries(now);
            breaker.fails(now);
        }
        assert_eq!(breaker.state(now + PAUSE_MAX), State::Trial);
    }

    #[test]
    fn a_trial_that_is_never_told_of_does_not_shut_a_provider_out_for_ever() {
        let mut now = Instant::now();
        let mut breaker = Breaker::default();
        for _ in 0..FAILURES_MAX {
            breaker.fails(now);
        }
        now += PAUSE;
        breaker.tries(now);
        assert_eq!(breaker.state(now + PAUSE), State::Trial);
    }
}
