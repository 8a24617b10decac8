//! Which requests are about runs: by their path, for every layer that treats them in a way of their own.

use axum::http::Method;

/// Runs in the API.
const API: &str = "/api/v1/runs";

/// Whether a path is a root or below it.
fn is_below(path: &str, root: &str) -> bool {
    path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether an answer is about runs: for whoever knows their address, not for caches nor for other sites.
pub fn is_about_runs(path: &str) -> bool {
    [API, "/api/v1/health", "/runs", "/try", "/actions"].iter().any(|root| is_below(path, root))
}

/// Whether something is sent by a form of a page. The API has its own way: it takes JSON alone, which no form sends.
pub fn is_form(method: &Method, path: &str) -> bool {
    method == Method::POST && (path.starts_with("/actions/") || path == "/try")
}

/// Whether a request brings code.
pub fn brings_code(method: &Method, path: &str) -> bool {
    is_form(method, path) || method == Method::POST && path == API
}

/// Whether a request ends by a deadline of its own: it waits for a run or follows one.
pub fn has_deadline(method: &Method, path: &str) -> bool {
    let is_stream = is_below(path, API) && path.ends_with("/events");
    is_stream || brings_code(method, path) && path != "/try"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_runs_code_is_large_and_slow() {
        let check = |method: Method, path: &str, large: bool, slow: bool| {
            assert_eq!(brings_code(&method, path), large, "{method} {path}");
            assert_eq!(has_deadline(&method, path), slow, "{method} {path}");
        };
        check(Method::POST, "/api/v1/runs", true, true);
        check(Method::POST, "/actions/start-run", true, true);
        check(Method::POST, "/try", true, false);
        check(Method::GET, "/api/v1/runs/0/events", false, true);
        check(Method::GET, "/api/v1/runs/0", false, false);
        check(Method::GET, "/api/v1/runs", false, false);
        check(Method::POST, "/api/v1/runs/0", false, false);
        check(Method::GET, "/api/v1/runsx/events", false, false);
        check(Method::GET, "/try", false, false);
    }
}
