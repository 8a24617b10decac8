//! `thud doctor`: looks whether every configured provider does what it should, and prints what it saw.

use std::sync::Arc;

use thud::router::adapter::Adapter;
use thud::router::doctor::{Check, Verdict, examine};
use tokio_util::sync::CancellationToken;

/// Looks at one provider after the other; an error where a check failed. What ends the look does not end the cleaning up.
pub async fn run(
    adapters: &[Arc<dyn Adapter>],
    stopped: impl Future<Output = ()> + Send + 'static,
) -> Result<(), String> {
    let stop = CancellationToken::new();
    let asked = stop.clone();
    tokio::spawn(async move {
        stopped.await;
        eprintln!("thud: cleaning up");
        asked.cancel();
    });
    println!("{:<16} {:<13} {:<7} what was seen", "provider", "check", "result");
    let mut failures = 0;
    for adapter in adapters {
        if stop.is_cancelled() {
            break;
        }
        for Check { name, verdict, words } in examine(adapter.as_ref(), &stop).await {
            println!("{:<16} {name:<13} {:<7} {words}", adapter.slug(), verdict.label());
            failures += u32::from(verdict == Verdict::Failed);
        }
    }
    match failures {
        0 => Ok(()),
        1 => Err("a check failed".to_owned()),
        _ => Err(format!("{failures} checks failed")),
    }
}
