//! Only hosts that are ours are answered: an answer under a stranger's name could be cached or trusted as his.

use std::net::IpAddr;

use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;

use super::failures::Asked;
use crate::state::AppState;

/// Answers 421 to requests for other hosts than that of `THUD_PUBLIC_URL`; without one, to all but localhost and
/// address literals.
pub async fn only_ours(State(state): State<AppState>, request: Request, next: Next) -> Response {
    let ours = match (request.uri().authority(), request.headers().get(header::HOST)) {
        (Some(authority), _) => is_ours(authority.as_str(), state.site.public_url.as_deref()),
        (None, Some(host)) => {
            host.to_str().is_ok_and(|host| is_ours(host, state.site.public_url.as_deref()))
        }
        // HTTP/1.0 without a host asks whoever it reached.
        (None, None) => true,
    };
    // Whoever watches the process asks by whatever address it knows.
    if ours || request.uri().path() == "/healthz" {
        return next.run(request).await;
    }
    let mut answer = Asked::of(&request).explained(&state, StatusCode::MISDIRECTED_REQUEST).await;
    answer.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}

fn is_ours(host: &str, public_url: Option<&str>) -> bool {
    if let Some(url) = public_url {
        let own = url.split_once("://").map_or(url, |(_, host)| host);
        return own.eq_ignore_ascii_case(host);
    }
    let Ok(authority) = host.parse::<Authority>() else { return false };
    let name = authority.host();
    let literal = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    name.eq_ignore_ascii_case("localhost") || literal.parse::<IpAddr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_public_url_only_this_machine_and_addresses_are_served() {
        for host in ["localhost", "localhost:3000", "127.0.0.1:3000", "[::1]:3000", "10.0.0.7"] {
            assert!(is_ours(host, None), "{host}");
        }
        for host in ["thud.example", "localhost.evil.example", "127.0.0.1.nip.example", "", "a b"] {
            assert!(!is_ours(host, None), "{host}");
        }
    }

    #[test]
    fn with_a_public_url_only_its_host_is_served() {
        let url = Some("https://thud.example");
        assert!(is_ours("thud.example", url));
        assert!(is_ours("THUD.example", url));
        assert!(!is_ours("127.0.0.1:3000", url));
        assert!(!is_ours("thud.example:8080", url));
    }
}
