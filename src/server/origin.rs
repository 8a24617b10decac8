//! Posts come from our own pages: another site could otherwise run code in a visitor's name.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::about_runs::is_form;
use crate::state::AppState;

/// Where a browser says from where a request comes.
const FETCH_SITE: &str = "sec-fetch-site";

/// Answers 403 to what a page of another site sent, or somebody of whom that cannot be told.
pub async fn only_own(State(state): State<AppState>, request: Request, next: Next) -> Response {
    if !is_form(request.method(), request.uri().path()) {
        return next.run(request).await;
    }
    // Both of HTTP/1.1 and of HTTP/2 and its successors.
    let host = request.uri().authority().map(|authority| authority.as_str().to_owned());
    let host = host.or_else(|| text(request.headers(), header::HOST.as_str()).map(str::to_owned));
    if is_own(request.headers(), state.site.public_url.as_deref(), host.as_deref()) {
        next.run(request).await
    } else {
        StatusCode::FORBIDDEN.into_response()
    }
}

/// Whether a post comes from our own pages, or from a person's own hand such as a bookmark. Browsers that do not say so
/// name the page's origin: it must be the public one, or the one that was reached where none is configured.
fn is_own(headers: &HeaderMap, public_url: Option<&str>, host: Option<&str>) -> bool {
    if headers.contains_key(FETCH_SITE) {
        return matches!(text(headers, FETCH_SITE), Some("same-origin" | "none"));
    }
    let Some(origin) = text(headers, header::ORIGIN.as_str()) else { return false };
    match (public_url, host) {
        (Some(url), _) => origin.eq_ignore_ascii_case(url),
        (None, Some(host)) => ["http://", "https://"].iter().any(|scheme| {
            origin.strip_prefix(scheme).is_some_and(|own| own.eq_ignore_ascii_case(host))
        }),
        (None, None) => false,
    }
}

/// The one value of a header; `None` where there are several.
fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?;
    values.next().is_none().then(|| value.to_str().ok())?
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderName, HeaderValue};

    use super::*;

    fn check(lines: &[(&'static str, &str)], public_url: Option<&str>, expected: bool) {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(HeaderName::from_static(name), HeaderValue::from_str(value).unwrap());
        }
        assert_eq!(is_own(&headers, public_url, Some("127.0.0.1:3000")), expected, "{lines:?}");
    }

    #[test]
    fn a_browser_says_where_it_comes_from() {
        check(&[("sec-fetch-site", "same-origin")], None, true);
        check(&[("sec-fetch-site", "none")], None, true);
        for site in ["cross-site", "same-site", "", "same-origin, none"] {
            check(&[("sec-fetch-site", site)], None, false);
        }
        // What it says of the site counts more than the origin.
        let both = [("sec-fetch-site", "cross-site"), ("origin", "http://127.0.0.1:3000")];
        check(&both, None, false);
        check(&[("sec-fetch-site", "none"), ("sec-fetch-site", "cross-site")], None, false);
    }

    #[test]
    fn without_that_the_origin_must_be_ours() {
        check(&[], None, false);
        check(&[("origin", "http://127.0.0.1:3000")], None, true);
        for origin in ["null", "http://127.0.0.1:3001", "http://evil.example", "127.0.0.1:3000"] {
            check(&[("origin", origin)], None, false);
        }
        let url = Some("https://thud.example");
        check(&[("origin", "https://thud.example")], url, true);
        check(&[("origin", "http://thud.example")], url, false);
        check(&[("origin", "http://127.0.0.1:3000")], url, false);
    }
}
