//! What a page can ask the server to do: every server function. Each works as the target of a plain form.
//!
//! Not here: who may ask (`server/origin.rs` turns away posts from other sites), and what is shown afterwards (`pages`).

#[cfg(feature = "ssr")]
mod submission;

use leptos::prelude::*;

use crate::runs::typed::{Secret, Typed};

/// Runs what was typed, and leads to its receipt. A refusal has a receipt too, so that nothing typed is lost.
#[server(prefix = "/actions", endpoint = "start-run")]
pub async fn start_run(
    #[server(flatten)] typed: Typed,
    #[server(default)] token: Secret,
) -> Result<(), ServerFnError> {
    submission::answer(typed, token, submission::At::Whoever).await;
    Ok(())
}

/// Runs what was typed at two providers, and leads to both side by side. Each run has a receipt of its own.
#[server(prefix = "/actions", endpoint = "start-two")]
pub async fn start_two(
    #[server(flatten)] typed: Typed,
    #[server(default)] token: Secret,
) -> Result<(), ServerFnError> {
    submission::answer(typed, token, submission::At::Two).await;
    Ok(())
}
