//! The way to one sandbox, and the code that goes over it once.

use std::error::Error;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use bytes::Bytes;
use reqwest::{Method, RequestBuilder, Response};
use secrecy::SecretString;
use tokio::time::timeout_at;

use super::super::adapter::{Ended, Failure, Sandbox, Snippet, Watch};
use super::super::outbound::{Answer, is_unsent, not_answered, secret_header, sent};
use super::refusals::{self, Service};
use super::{E2b, api, envelopes, lines};
use crate::runs::{Language, Reason, Stage, Stream};

/// The port of the process service.
const PROCESSES_PORT: u16 = 49_983;
/// The port of the interpreter.
const INTERPRETER_PORT: u16 = 49_999;
/// Linux takes arguments of up to 128 KiB: longer commands come in parts, of so many bytes at most.
const ARGUMENT_BYTES_MAX: usize = 100 * 1024;
/// What puts the parts together again.
const JOINED: &str = "c=$1$2$3; set --; eval \"$c\"";
/// How long after the wall clock the process service has to say that it has killed the command.
const KILL_GRACE: Duration = Duration::from_millis(500);
/// How the interpreter is told that the connection should be looked after, seconds; as the vendor's clients do.
const KEEPALIVE_SECONDS: u32 = 50;
/// What code that leaves by this is not failing for.
const SYSTEM_EXIT: &str = "SystemExit";
/// What the interpreter calls it when the code killed it: by an exit below it, a crash, too much memory.
const KERNEL_DIED: &str = "ContextRestarting";
/// Names under which the interpreter reports that it lost the code, not that the code failed.
const LOST: [&str; 3] = ["WebSocketError", "UnexpectedEndOfExecution", "ExecutionAborted"];

/// The way to a sandbox.
pub struct Way {
    e2b: E2b,
    made: api::Made,
    language: Language,
    /// Scheme and host.
    base: String,
}

impl Way {
    /// The way to a sandbox that was made for code of a language; a failure where its address is a foreign one.
    pub fn to(e2b: E2b, made: api::Made, language: Language) -> Result<Self, Failure> {
        let settings = &e2b.0.settings;
        let port = port(language);
        let domain = made.domain.as_deref().unwrap_or(&settings.domain);
        let own = format!("https://{port}-{}.{domain}", made.sandbox_id);
        // Where a foreign domain is named, nobody is called, whatever address is configured.
        e2b.0.sandboxes.permitted(&own)?;
        let base = settings.sandbox_url.clone().unwrap_or(own);
        Ok(Self { e2b, made, language, base })
    }

    /// Opens the connection that the code will take, and sees that somebody is there.
    pub async fn open(&self) -> Result<(), Failure> {
        let looked = self.e2b.0.sandboxes.look(|| self.call(Method::GET, "/health"));
        let answer = looked.await?;
        if answer.status.is_success() {
            return Ok(());
        }
        let (Ended::NotRun(failure) | Ended::Lost(failure)) =
            refusals::run(&answer, self.service())
        else {
            return Err(answer.failure(Reason::Protocol, super::Remains::Perhaps));
        };
        Err(failure)
    }

    fn service(&self) -> Service {
        match self.language {
            Language::Bash => Service::Processes,
            Language::Python | Language::JavaScript => Service::Interpreter,
        }
    }

    fn call(&self, method: Method, path: &str) -> Result<RequestBuilder, Failure> {
        let mut call = self.e2b.0.sandboxes.call(method, &format!("{}{path}", self.base))?;
        // By these a shared address knows which sandbox is meant; one of its own ignores them.
        call = call
            .header("e2b-sandbox-id", &self.made.sandbox_id)
            .header("e2b-sandbox-port", port(self.language));
        let token = |token: &Option<SecretString>| {
            token.as_ref().map(|token| secret_header("", token)).transpose()
        };
        // The interpreter wants it only to ask for environment variables, and there are none: what it does not need does not
        // enter the sandbox.
        if self.service() == Service::Processes
            && let Some(value) = token(&self.made.envd_access_token)?
        {
            call = call.header("x-access-token", value);
        }
        if let Some(value) = token(&self.made.traffic_access_token)? {
            call = call.header("e2b-traffic-access-token", value);
        }
        Ok(call)
    }

    /// The call that carries the code.
    fn code(&self, code: &Snippet<'_>) -> Result<RequestBuilder, Failure> {
        let language = match code.language {
            Language::Python => None,
            Language::JavaScript => Some("javascript"),
            Language::Bash => {
                let mut args = vec!["-l", "-c", JOINED, "thud"];
                args.extend(parts(code.code));
                let process = api::Process { cmd: "/bin/bash", args };
                let start = api::Start { process, stdin: false };
                let message = serde_json::to_vec(&start)
                    .map_err(|error| Failure::leaving_perhaps(Reason::BadRequest).because(error))?;
                let call = self.call(Method::POST, "/process.Process/Start")?;
                return Ok(call
                    .header("content-type", "application/connect+json")
                    .header("connect-protocol-version", "1")
                    .header("connect-timeout-ms", code.timeout.as_millis().to_string())
                    .header("keepalive-ping-interval", KEEPALIVE_SECONDS.to_string())
                    .body(envelopes::envelope(&message)));
            }
        };
        let body = api::Execute { code: code.code, language };
        Ok(self.call(Method::POST, "/execute")?.json(&body))
    }
}

fn port(language: Language) -> u16 {
    match language {
        Language::Bash => PROCESSES_PORT,
        Language::Python | Language::JavaScript => INTERPRETER_PORT,
    }
}

/// A text in parts that are arguments.
fn parts(text: &str) -> Vec<&str> {
    let (mut parts, mut rest) = (Vec::new(), text);
    while !rest.is_empty() {
        let (part, behind) = rest.split_at(rest.floor_char_boundary(ARGUMENT_BYTES_MAX));
        parts.push(part);
        rest = behind;
    }
    parts
}

#[async_trait]
impl Sandbox for Way {
    async fn run(&mut self, code: &Snippet<'_>, watch: &dyn Watch) -> Ended {
        watch.stage(Stage::Confirm);
        let call = match self.code(code) {
            Ok(call) => call,
            Err(failure) => return Ended::Lost(failure),
        };
        if watch.code_starts().await.is_err() {
            return Ended::Lost(Failure::leaving_perhaps(Reason::Outage));
        }
        let begun = Instant::now();
        let service = self.service();
        let limit = match service {
            Service::Interpreter => code.timeout,
            Service::Processes => code.timeout + KILL_GRACE,
        };
        let read = async {
            let response = match sent(call).await {
                Ok(response) => response,
                Err(failure) if is_unsent(&failure) => return Ended::NotRun(failure),
                Err(failure) => return Ended::Lost(failure),
            };
            if response.status() != reqwest::StatusCode::OK {
                return match Answer::read(response, ERROR_BYTES_MAX).await {
                    Ok(answer) => refusals::run(&answer, service),
                    Err(failure) => Ended::Lost(failure),
                };
            }
            match service {
                Service::Interpreter => interpreted(response, watch, begun).await,
                Service::Processes => processed(response, watch, begun).await,
            }
        };
        // Dropping the answer closes its connection, and the interpreter interrupts the code.
        let ended = timeout_at((begun + limit).into(), read).await;
        ended.unwrap_or_else(|_| Ended::TimedOut { duration: begun.elapsed() })
    }
}

/// How much of a refusal is read, bytes.
const ERROR_BYTES_MAX: usize = 64 * 1024;

fn lost(reason: Reason) -> Ended {
    Ended::Lost(Failure::leaving_perhaps(reason))
}

/// The next piece of an answer that has to say itself when it is over.
async fn chunk(response: &mut Response) -> Result<Bytes, Failure> {
    let chunk = response.chunk().await.map_err(not_answered)?;
    chunk.ok_or_else(|| Failure::leaving_perhaps(Reason::LostConnection))
}

fn malformed(error: impl Error + Send + Sync + 'static) -> Ended {
    Ended::Lost(Failure::leaving_perhaps(Reason::Protocol).because(error))
}

/// Reads what the interpreter says, to its last line.
async fn interpreted(mut response: Response, watch: &dyn Watch, begun: Instant) -> Ended {
    let mut reader = lines::Lines::default();
    let (mut exit_code, mut is_leaving) = (0, false);
    loop {
        let chunk = match chunk(&mut response).await {
            Ok(chunk) => chunk,
            Err(failure) => return Ended::Lost(failure),
        };
        let events = match reader.push(&chunk) {
            Ok(events) => events,
            Err(error) => return malformed(error),
        };
        for event in events {
            match event {
                // What comes after it is the interpreter's own advice on how to leave.
                lines::Event::Output { .. } if is_leaving => {}
                lines::Event::Output { stream, text, dropped_bytes } => {
                    watch.output(stream, text.as_bytes());
                    watch.dropped(stream, dropped_bytes);
                }
                lines::Event::Error { name, value, .. } if name == SYSTEM_EXIT => {
                    is_leaving = true;
                    exit_code = left_with(&value);
                    if !is_number(&value) {
                        watch.output(Stream::Stderr, format!("{value}\n").as_bytes());
                    }
                }
                // What code raises has a traceback.
                lines::Event::Error { name, traceback, .. }
                    if traceback.is_empty() && LOST.contains(&name.as_str()) =>
                {
                    return lost(Reason::LostConnection);
                }
                lines::Event::Error { name, value, traceback }
                    if traceback.is_empty() && name == KERNEL_DIED =>
                {
                    exit_code = 1;
                    let text = format!("The interpreter died: {value}\n");
                    watch.output(Stream::Stderr, text.as_bytes());
                }
                lines::Event::Error { name, value, traceback } => {
                    exit_code = 1;
                    let text = if traceback.is_empty() {
                        format!("{name}: {value}\n")
                    } else {
                        format!("{}\n", traceback.trim_end_matches('\n'))
                    };
                    watch.output(Stream::Stderr, text.as_bytes());
                }
                lines::Event::End => {
                    return Ended::Exited { exit_code, duration: begun.elapsed() };
                }
                lines::Event::Accepted | lines::Event::Other => {}
            }
        }
    }
}

/// The exit code of code that left by `SystemExit`: as Python has it.
fn left_with(value: &str) -> i32 {
    match value {
        "" | "None" => 0,
        value => value.parse().unwrap_or(1),
    }
}

fn is_number(value: &str) -> bool {
    matches!(value, "" | "None") || value.parse::<i32>().is_ok()
}

/// Reads what the process service says, to its last envelope.
async fn processed(mut response: Response, watch: &dyn Watch, begun: Instant) -> Ended {
    let mut reader = envelopes::Envelopes::default();
    let (mut is_started, mut exit_code) = (false, None);
    loop {
        let chunk = match chunk(&mut response).await {
            Ok(chunk) => chunk,
            Err(failure) => return Ended::Lost(failure),
        };
        let events = match reader.push(&chunk) {
            Ok(events) => events,
            Err(error) => return malformed(error),
        };
        for event in events {
            match event {
                envelopes::Event::Started => is_started = true,
                envelopes::Event::Output(stream, bytes) => watch.output(stream, &bytes),
                envelopes::Event::Exited(code) => exit_code = Some(code),
                envelopes::Event::Over => {
                    let duration = begun.elapsed();
                    return exit_code.map_or_else(
                        || lost(Reason::LostConnection),
                        |exit_code| Ended::Exited { exit_code, duration },
                    );
                }
                envelopes::Event::Failed(code) => {
                    return match code.as_str() {
                        "deadline_exceeded" => Ended::TimedOut { duration: begun.elapsed() },
                        "invalid_argument" if !is_started => {
                            Ended::NotRun(Failure::leaving_perhaps(Reason::BadRequest))
                        }
                        "unauthenticated" if !is_started => {
                            Ended::NotRun(Failure::leaving_perhaps(Reason::Auth))
                        }
                        _ => lost(Reason::LostConnection),
                    };
                }
                envelopes::Event::Other => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_command_comes_in_parts_of_whole_characters() {
        let text = "\u{20ac}".repeat(90_000);
        let parts = parts(&text);
        assert_eq!(parts.len(), 3);
        assert!(parts.iter().all(|part| part.len() <= ARGUMENT_BYTES_MAX));
        assert_eq!(parts.concat(), text);
        assert!(super::parts("").is_empty());
    }

    fn way(
        sandbox_url: Option<&str>,
        domain: Option<&str>,
        language: Language,
    ) -> Result<Way, Failure> {
        let settings = super::super::Settings {
            api_key: SecretString::from("e2b_1".to_owned()),
            domain: "e2b.test".to_owned(),
            api_url: "https://api.e2b.test".to_owned(),
            sandbox_url: sandbox_url.map(str::to_owned),
            template: "base".to_owned(),
            shape: crate::catalog::shape::Shape {
                vcpu: 1.into(),
                memory_gib: 1.into(),
                disk_gib: 1.into(),
            },
            start_slice: Duration::from_secs(1),
        };
        let made = api::Made {
            sandbox_id: "i1".to_owned(),
            envd_access_token: None,
            traffic_access_token: None,
            domain: domain.map(str::to_owned),
        };
        Way::to(E2b::new(settings, "site".to_owned()).unwrap(), made, language)
    }

    #[test]
    fn a_sandbox_has_an_address_of_its_own_below_a_domain_that_is_known() {
        let base = |domain, language| way(None, domain, language).map(|way| way.base).ok();
        let plain = base(None, Language::Python);
        assert_eq!(plain.as_deref(), Some("https://49999-i1.e2b.test"));
        let near = base(Some("eu.e2b.test"), Language::Bash);
        assert_eq!(near.as_deref(), Some("https://49983-i1.eu.e2b.test"));
        for foreign in
            ["evil.example", "e2b.test.evil.example", "evil.example/.e2b.test", "e2b.test:1"]
        {
            assert!(way(None, Some(foreign), Language::Python).is_err(), "{foreign}");
            // Not even where everything goes to one address.
            assert!(way(Some("https://one.e2b.test"), Some(foreign), Language::Python).is_err());
        }
    }

    #[test]
    fn code_that_leaves_has_the_exit_code_that_python_gives_it() {
        for (value, exit_code) in [("0", 0), ("None", 0), ("", 0), ("3", 3), ("no luck", 1)] {
            assert_eq!(left_with(value), exit_code, "{value}");
        }
    }
}
