//! Every page, its address, and the document round it. Pages are rendered whole, on the server alone.
//!
//! Not here: what a browser runs (`islands`), and what pages share (`parts`).

mod api;
mod calculator;
mod changes;
mod compare;
mod correct;
mod guide;
mod home;
mod methodology;
mod problem;
mod provider;
mod run;
mod try_it;
mod two_runs;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{FromRef, Request};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use leptos::config::LeptosOptions;
use leptos::prelude::*;
use leptos_axum::{LeptosRoutes, generate_route_list, render_app_async_with_context};
use leptos_meta::{MetaTags, provide_meta_context};
use leptos_router::components::{FlatRoutes, Route, Router as Routes};
use leptos_router::{SsrMode, path};

use crate::parts::day::provide_edition;
use crate::parts::layout::Layout;
use crate::state::AppState;

/// The largest page, in bytes.
const PAGE_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Where a page ends.
const END: &[u8] = b"</html>";
/// The script that wakes islands.
pub const ISLANDS: &str = "/islands.js";

/// The script of a page; most have none.
pub fn script(path: &str) -> Option<&'static str> {
    match path {
        "/calculator" | "/calculator/workload" => Some(ISLANDS),
        "/try" => Some("/try.js"),
        // Two at once are only asked for again.
        _ if path.starts_with("/runs/") && !path.contains("/and/") => Some("/run.js"),
        _ => None,
    }
}

/// Every page at its address, and what pages send: server functions are among the routes of Leptos.
pub fn routes(state: &AppState) -> Router<AppState> {
    let context = {
        let state = state.clone();
        move || provide_context(state.clone())
    };
    let document = {
        let state = state.clone();
        move || document(&state)
    };
    Router::new()
        .leptos_routes_with_context(state, generate_route_list(Pages), context, document)
        .route("/try", post(try_it::look_again))
        .layer(from_fn_with_state(state.clone(), run::find))
        .layer(from_fn(end_with_the_document))
}

impl FromRef<AppState> for LeptosOptions {
    fn from_ref(state: &AppState) -> Self {
        Self::builder().output_name("thud").site_root(state.site.root.to_string_lossy()).build()
    }
}

/// The page that says what went wrong.
pub async fn failure(state: &AppState, path: &str, status: StatusCode) -> Response {
    trimmed(rendered(state, path, problem::Failure(status)).await).await
}

/// The page of a path that is given something besides what the server shares.
async fn rendered<T: Clone + Send + Sync + 'static>(
    state: &AppState,
    path: &str,
    besides: T,
) -> Response {
    let context = {
        let state = state.clone();
        move || {
            provide_context(state.clone());
            provide_context(besides.clone());
        }
    };
    let document = {
        let state = state.clone();
        move || document(&state)
    };
    let request = Request::get(path).body(Body::empty()).unwrap_or_default();
    render_app_async_with_context(context, document)(request).await
}

/// Leptos appends scripts for its own hydration after the document, which our pages neither need nor allow.
async fn end_with_the_document(request: Request, next: Next) -> Response {
    let answer = next.run(request).await;
    // Nor does anything here lead elsewhere for once, but for a post that no server function could read: back to where it came
    // from, with a word in the address.
    if answer.status() == StatusCode::FOUND {
        return StatusCode::BAD_REQUEST.into_response();
    }
    trimmed(answer).await
}

async fn trimmed(response: Response) -> Response {
    let (mut parts, body) = response.into_parts();
    let Ok(bytes) = to_bytes(body, PAGE_BYTES_MAX).await else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let end = bytes.windows(END.len()).rposition(|window| window == END);
    let page = end.map_or(bytes.clone(), |place| bytes.slice(..place + END.len()));
    parts.headers.insert(header::CONTENT_LENGTH, HeaderValue::from(page.len()));
    Response::from_parts(parts, Body::from(page))
}

/// The document round every page.
fn document(state: &AppState) -> impl IntoView + use<> {
    // Islands are hydrated one by one; the page itself never is.
    if let Some(shared) = Owner::current_shared_context() {
        shared.set_is_hydrating(false);
    }
    let asset = |path: &str| format!("{path}?v={}", state.site.build);
    let script = script(&crate::parts::layout::path())
        .map(|script| view! { <script type="module" src=asset(script)></script> });
    view! {
        <!DOCTYPE html>
        <html lang="en">
            <head>
                <meta charset="utf-8"/>
                <meta name="viewport" content="width=device-width, initial-scale=1"/>
                <meta name="color-scheme" content="light dark"/>
                <link rel="icon" type="image/svg+xml" href=asset("/favicon.svg")/>
                <link rel="stylesheet" href=asset("/pkg/thud.css")/>
                {script}
                <MetaTags/>
            </head>
            <body><Pages/></body>
        </html>
    }
}

/// The table of addresses.
#[component]
fn Pages() -> impl IntoView {
    provide_meta_context();
    provide_edition();
    if use_context::<problem::Failure>().is_some() {
        return view! { <Layout><problem::Problem/></Layout> }.into_any();
    }
    view! {
        <Routes>
            <Layout>
                <FlatRoutes fallback=problem::NotFound>
                    <Route path=path!("/") view=home::Home ssr=SsrMode::Async/>
                    <Route path=path!("/sandboxes/:slug") view=provider::ProviderPage ssr=SsrMode::Async/>
                    <Route path=path!("/sandboxes/:slug/correct") view=correct::Correct ssr=SsrMode::Async/>
                    <Route path=path!("/compare") view=compare::CompareAll ssr=SsrMode::Async/>
                    <Route path=path!("/compare/:slugs") view=compare::Compare ssr=SsrMode::Async/>
                    <Route path=path!("/calculator") view=calculator::CalculatorPage ssr=SsrMode::Async/>
                    <Route path=path!("/calculator/workload") view=calculator::WorkloadPage ssr=SsrMode::Async/>
                    <Route path=path!("/try") view=try_it::TryIt ssr=SsrMode::Async/>
                    <Route path=path!("/runs/:id") view=run::RunPage ssr=SsrMode::Async/>
                    <Route path=path!("/runs/:id/and/:other") view=two_runs::TwoRuns ssr=SsrMode::Async/>
                    <Route path=path!("/changes") view=changes::Changes ssr=SsrMode::Async/>
                    <Route path=path!("/guide") view=guide::Guide ssr=SsrMode::Async/>
                    <Route path=path!("/methodology") view=methodology::Methodology ssr=SsrMode::Async/>
                    <Route path=path!("/api") view=api::Api ssr=SsrMode::Async/>
                </FlatRoutes>
            </Layout>
        </Routes>
    }
    .into_any()
}

/// What the server shares with every page.
fn state() -> AppState {
    expect_context::<AppState>()
}
