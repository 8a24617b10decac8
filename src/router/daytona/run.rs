//! The way to one sandbox, and the code that goes over it once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use futures_util::stream;
use reqwest::{Body, Method, StatusCode};
use serde_json::json;
use tokio::time::timeout_at;

use super::super::adapter::{Ended, Failure, Sandbox, Snippet, Watch};
use super::super::outbound::{Answer, secret_header, sent};
use super::wrapper::{self, Printed};
use super::{Daytona, api, refusals};
use crate::runs::{Reason, Stage, Stream};

/// How much later than our wall clock the platform ends the command: the script has to print what it has.
const PLATFORM_GRACE: Duration = Duration::from_secs(2);
/// How long after our wall clock the answer is waited for.
const ANSWER_PATIENCE: Duration = Duration::from_millis(2_500);
/// What an answer has beside the outputs, bytes.
const ANSWER_FRAME_BYTES: usize = 64 * 1024;

/// The way to a sandbox.
pub struct Way {
    daytona: Daytona,
    /// The call that runs a command.
    url: String,
    attempt: String,
}

impl Way {
    /// The way to a sandbox; a failure where its address is a foreign one.
    pub fn to(daytona: Daytona, sandbox: &api::Sandbox, attempt: &str) -> Result<Self, Failure> {
        let configured = daytona.0.settings.toolbox_url.as_ref();
        let base = configured.or(sandbox.toolbox_proxy_url.as_ref());
        let base = base.ok_or_else(|| Failure::leaving_perhaps(Reason::Protocol))?;
        let url = format!("{}/{}/process/execute", base.trim_end_matches('/'), sandbox.id);
        if let Some(named) = &sandbox.toolbox_proxy_url {
            // Whoever names a foreign address is not sent code either.
            daytona.0.toolbox.permitted(named)?;
        }
        daytona.0.toolbox.permitted(&url)?;
        Ok(Self { daytona, url, attempt: attempt.to_owned() })
    }
}

#[async_trait]
impl Sandbox for Way {
    async fn run(&mut self, code: &Snippet<'_>, watch: &dyn Watch) -> Ended {
        watch.stage(Stage::Confirm);
        let Daytona(inner) = &self.daytona;
        let limit = code.timeout;
        let most = code.output_bytes_max;
        let script = wrapper::script(&self.attempt, code.language, code.code, limit, most);
        let seconds = (limit + PLATFORM_GRACE).as_millis().div_ceil(1000);
        let body = json!({ "command": script, "timeout": seconds }).to_string();
        // Set when the connection is there and the code begins to be written.
        let is_sent = Arc::new(AtomicBool::new(false));
        let sending = is_sent.clone();
        let call = secret_header("Bearer ", &inner.settings.api_key)
            .and_then(|key| Ok((key, inner.toolbox.call(Method::POST, &self.url)?)));
        let call = match call {
            // In pieces, without its length: the platform's proxy sends a request of known length a second time when the
            // first gets no answer.
            Ok((key, call)) => {
                let body = stream::once(async move {
                    sending.store(true, Ordering::SeqCst);
                    Ok::<_, std::io::Error>(body)
                });
                call.header("authorization", key)
                    .header("content-type", "application/json")
                    .body(Body::wrap_stream(body))
            }
            Err(failure) => return Ended::Lost(failure),
        };
        if watch.code_starts().await.is_err() {
            return Ended::Lost(Failure::leaving_perhaps(Reason::Outage));
        }
        let begun = Instant::now();
        let read = async {
            let response = match sent(call).await {
                Ok(response) => response,
                Err(failure) if !is_sent.load(Ordering::SeqCst) => return Ended::NotRun(failure),
                Err(failure) => return Ended::Lost(failure),
            };
            // Two outputs as base64, which is four thirds of them.
            let bytes_max = most * 2 / 3 * 4 + ANSWER_FRAME_BYTES;
            match Answer::read(response, bytes_max).await {
                Ok(answer) => self.ended(&answer, watch, begun),
                Err(failure) => Ended::Lost(failure),
            }
        };
        let ended = timeout_at((begun + limit + ANSWER_PATIENCE).into(), read).await;
        ended.unwrap_or_else(|_| {
            if is_sent.load(Ordering::SeqCst) {
                Ended::TimedOut { duration: begun.elapsed() }
            } else {
                Ended::NotRun(Failure::leaving_perhaps(Reason::Outage))
            }
        })
    }
}

impl Way {
    fn ended(&self, answer: &Answer, watch: &dyn Watch, begun: Instant) -> Ended {
        match answer.status {
            StatusCode::OK => {}
            // The platform's own limit: the output is lost.
            StatusCode::REQUEST_TIMEOUT => {
                return Ended::TimedOut { duration: begun.elapsed() };
            }
            _ => return refusals::run(answer),
        }
        let executed: api::Executed = match answer.json() {
            Ok(executed) => executed,
            Err(failure) => return Ended::Lost(failure),
        };
        match wrapper::read(&self.attempt, &executed.result) {
            Printed::Result(result) => {
                for (stream, (bytes, dropped)) in
                    [(Stream::Stdout, result.stdout), (Stream::Stderr, result.stderr)]
                {
                    watch.output(stream, &bytes);
                    watch.dropped(stream, dropped);
                }
                // The sandbox says it, so it can say anything.
                let duration = result.duration.min(begun.elapsed());
                if result.is_late {
                    Ended::TimedOut { duration }
                } else {
                    Ended::Exited { exit_code: result.exit_code, duration }
                }
            }
            Printed::NoFolder => Ended::NotRun(Failure::leaving_perhaps(Reason::Outage)),
            // Somebody in between sent it twice, and this is the answer to the second.
            Printed::Replay => Ended::Lost(Failure::leaving_perhaps(Reason::LostConnection)),
            Printed::Other => Ended::Lost(Failure::leaving_perhaps(Reason::Protocol)),
        }
    }
}
