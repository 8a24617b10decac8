//! Twins: each catalog, provider, comparison, change and calculator page is there as `.json`, `.csv` and `.md` too,
//! under the same path and query; changes are a feed as `.atom`. The API answers them all.

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::Extensions;
use axum::http::uri::{PathAndQuery, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tower::ServiceExt;

use crate::api::asked::{FORMS, Form, Twin};
use crate::comparison::JOINT;

/// The ending of a feed.
const FEED: &str = ".atom";

/// What a twin's address stands for: a path of the API, a query that comes first, and the form.
#[derive(Debug, PartialEq, Eq)]
struct Target {
    path: String,
    query: Option<String>,
    form: Form,
}

impl Target {
    /// Reads an address without its query; `None` where it is not that of a twin.
    fn of(path: &str) -> Option<Self> {
        let api = |path: &str, query: Option<String>, form| {
            Some(Self { path: format!("/api/v1/{path}"), query, form })
        };
        if let Some(page) = path.strip_suffix(FEED) {
            let query = match page.strip_prefix("/sandboxes/") {
                Some(slug) => Some(format!("providers={slug}")),
                None if page == "/changes" => None,
                None => return None,
            };
            return api("changes.atom", query, Form::Json);
        }
        let (page, form) = FORMS
            .into_iter()
            .find_map(|form| Some((path.strip_suffix(&format!(".{}", form.word()))?, form)))?;
        match page {
            "/catalog" => api("providers", None, form),
            "/changes" => api("changes", None, form),
            "/calculator" => api("exposure", None, form),
            "/compare" => api("compare", None, form),
            _ => {
                let slug = |prefix: &str| {
                    page.strip_prefix(prefix).filter(|slug| !slug.is_empty() && !slug.contains('/'))
                };
                if let Some(slug) = slug("/sandboxes/") {
                    return api(&format!("providers/{slug}"), None, form);
                }
                let slugs = slug("/compare/")?.replace(JOINT, ",");
                api("compare", Some(format!("providers={slugs}")), form)
            }
        }
    }
}

/// Whether a path is that of a twin, which any site may read as it may the API.
pub fn is_twin(path: &str) -> bool {
    Target::of(path).is_some()
}

/// Lets the API answer for a twin; everything else passes.
pub async fn answer(State(api): State<Router>, mut request: Request, next: Next) -> Response {
    let Some(target) = Target::of(request.uri().path()) else { return next.run(request).await };
    let queries = [target.query.as_deref(), request.uri().query()];
    let query: Vec<&str> = queries.into_iter().flatten().filter(|one| !one.is_empty()).collect();
    let address =
        if query.is_empty() { target.path } else { format!("{}?{}", target.path, query.join("&")) };
    // The path came out of an address: what is one stays one.
    let Ok(address) = PathAndQuery::try_from(address) else { return next.run(request).await };
    *request.uri_mut() = Uri::from(address);
    // What the page's route left there, such as the parts of its path, is not meant for that of the API.
    *request.extensions_mut() = Extensions::new();
    request.extensions_mut().insert(Twin(target.form));
    match api.oneshot(request.map(Body::new)).await {
        Ok(response) => response.into_response(),
        Err(never) => match never {},
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_a_twin_names_its_page() {
        let check = |address: &str, path: &str, query: Option<&str>, form| {
            let target = Target { path: path.to_owned(), query: query.map(str::to_owned), form };
            assert_eq!(Target::of(address), Some(target), "{address}");
        };
        check("/catalog.json", "/api/v1/providers", None, Form::Json);
        check("/sandboxes/e2b.csv", "/api/v1/providers/e2b", None, Form::Csv);
        let pair = Some("providers=e2b,daytona");
        check("/compare/e2b-vs-daytona.md", "/api/v1/compare", pair, Form::Markdown);
        check("/changes.atom", "/api/v1/changes.atom", None, Form::Json);
        check("/sandboxes/e2b.atom", "/api/v1/changes.atom", Some("providers=e2b"), Form::Json);
        for address in
            ["/", "/guide.json", "/a/b.csv", "/compare/.md", "/sandboxes/a/b.json", "/guide.atom"]
        {
            assert_eq!(Target::of(address), None, "{address}");
        }
    }
}
