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

use crate::api::asked::Twin;
use crate::comparison::JOINT;
use crate::form::Form;

/// The ending of a feed.
const FEED: &str = ".atom";

/// What a twin's address stands for.
#[derive(Debug, PartialEq, Eq)]
struct Target {
    /// The path of the API.
    path: String,
    /// A query that the path says.
    query: Option<String>,
    /// Parameters of the API that the page does not know.
    unknown: &'static [&'static str],
    /// The form.
    form: Form,
}

impl Target {
    /// Reads an address without its query; `None` where it is not that of a twin.
    fn of(path: &str) -> Option<Self> {
        let slug = |page: &'_ str, prefix: &str| {
            let slug = page.strip_prefix(prefix).filter(|slug| !slug.is_empty())?;
            (!slug.contains('/')).then(|| slug.to_owned())
        };
        let api = |path: String, query: Option<String>, unknown, form| {
            Some(Self { path: format!("/api/v1/{path}"), query, unknown, form })
        };
        if let Some(page) = path.strip_suffix(FEED) {
            let feed = match slug(page, "/sandboxes/") {
                Some(slug) => format!("providers/{slug}/changes.atom"),
                None if page == "/changes" => "changes.atom".to_owned(),
                None => return None,
            };
            return api(feed, None, &[], Form::Json);
        }
        let (page, form) = Form::ALL
            .into_iter()
            .find_map(|form| Some((path.strip_suffix(&format!(".{}", form.word()))?, form)))?;
        match page {
            "/catalog" => api("providers".to_owned(), None, &["limit"], form),
            "/changes" => api("changes".to_owned(), None, &[], form),
            "/calculator" => api("exposure".to_owned(), None, &[], form),
            "/calculator/workload" => api("workload".to_owned(), None, &[], form),
            "/compare" => api("compare".to_owned(), None, &["providers"], form),
            _ => {
                if let Some(slug) = slug(page, "/sandboxes/") {
                    return api(format!("providers/{slug}"), None, &[], form);
                }
                // What ends a parameter in a query is plain text in a path.
                let slugs = slug(page, "/compare/")?.replace(JOINT, ",");
                let slugs = slugs.replace('&', "%26").replace('+', "%2B");
                api("compare".to_owned(), Some(format!("providers={slugs}")), &["providers"], form)
            }
        }
    }

    /// The address of the API for a query of the page.
    fn address(&self, query: Option<&str>) -> String {
        let is_known = |pair: &&str| {
            let name = form_urlencoded::parse(pair.as_bytes()).next().map(|(name, _)| name);
            name.is_some_and(|name| !self.unknown.contains(&name.as_ref()))
        };
        let asked = query.unwrap_or_default().split('&').filter(is_known);
        let query: Vec<&str> = self.query.as_deref().into_iter().chain(asked).collect();
        if query.is_empty() {
            self.path.clone()
        } else {
            format!("{}?{}", self.path, query.join("&"))
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
    let address = target.address(request.uri().query());
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
        let check = |address: &str, query: Option<&str>, expected: &str, form| {
            let target = Target::of(address).unwrap();
            assert_eq!(
                (target.address(query).as_str(), target.form),
                (expected, form),
                "{address}"
            );
        };
        check("/catalog.json", None, "/api/v1/providers", Form::Json);
        check("/catalog.csv", Some("limit=2&gpu=1"), "/api/v1/providers?gpu=1", Form::Csv);
        check("/sandboxes/e2b.csv", Some("a=b"), "/api/v1/providers/e2b?a=b", Form::Csv);
        let pair = "/api/v1/compare?providers=e2b,daytona";
        check("/compare/e2b-vs-daytona.md", None, pair, Form::Markdown);
        check("/compare/e2b-vs-daytona.md", Some("provi%64ers=x"), pair, Form::Markdown);
        check(
            "/compare/e2b&limit=1.md",
            None,
            "/api/v1/compare?providers=e2b%26limit=1",
            Form::Markdown,
        );
        check("/changes.atom", None, "/api/v1/changes.atom", Form::Json);
        check("/sandboxes/e2b.atom", None, "/api/v1/providers/e2b/changes.atom", Form::Json);
        for address in
            ["/", "/guide.json", "/a/b.csv", "/compare/.md", "/sandboxes/a/b.json", "/guide.atom"]
        {
            assert_eq!(Target::of(address), None, "{address}");
        }
    }
}
