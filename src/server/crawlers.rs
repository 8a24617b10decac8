//! What is written for programs that find their own way: `/robots.txt`, `/sitemap.xml` and, for
//! language models, `/llms.txt`.
//!
//! Not here: what stands on a page for them. That is `parts::preview` and `parts::structured`.

use std::io;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use jiff::Timestamp;
use jiff::civil::Date;
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use crate::catalog::Catalog;
use crate::catalog::store::Revision;
use crate::comparison::Comparison;
use crate::moment::day_of;
use crate::state::{AppState, Site};

/// The vocabulary of site maps.
const NAMESPACE: &str = "http://www.sitemaps.org/schemas/sitemap/0.9";
/// Pages about no provider in particular.
const PAGES: [&str; 9] = [
    "/",
    "/compare",
    "/calculator",
    "/calculator/workload",
    "/try",
    "/changes",
    "/guide",
    "/methodology",
    "/api",
];

/// All three.
pub fn routes() -> Router<AppState> {
    Router::new()
        .route("/robots.txt", get(robots))
        .route("/sitemap.xml", get(sitemap))
        .route("/llms.txt", get(llms))
}

/// Everything may be read, the share images too; only forms for corrections need no visit.
async fn robots(State(state): State<AppState>) -> String {
    format!(
        "User-agent: *\nAllow: /\nAllow: /share/\nDisallow: /sandboxes/*/correct\n\nSitemap: {}\n",
        state.site.absolute("/sitemap.xml")
    )
}

async fn sitemap(State(state): State<AppState>) -> Response {
    match sitemap_of(&state.catalog, &state.revision, &state.site) {
        Ok(xml) => ([(header::CONTENT_TYPE, "application/xml")], xml).into_response(),
        Err(error) => {
            tracing::error!(%error, "the site map could not be written");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

/// Every page with the day of its last change: a provider's own, else that of the revision.
fn sitemap_of(catalog: &Catalog, revision: &Revision, site: &Site) -> io::Result<Vec<u8>> {
    let published = revision.published_at.parse::<Timestamp>().ok().map(day_of);
    let routed = Comparison::by_default(catalog);
    let mut pages: Vec<(String, Option<Date>)> =
        PAGES.iter().map(|path| ((*path).to_owned(), published)).collect();
    if routed.len() > 1 {
        pages.push((Comparison::address(&routed), published));
    }
    pages.extend(
        catalog
            .providers()
            .iter()
            .map(|one| (format!("/sandboxes/{}", one.slug), one.checked_on.or(published))),
    );
    let mut writer = Writer::new(Vec::new());
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let set = writer.create_element("urlset").with_attribute(("xmlns", NAMESPACE));
    set.write_inner_content(|set| {
        for (path, changed) in &pages {
            set.create_element("url").write_inner_content(|url| {
                let address = site.absolute(path);
                url.create_element("loc").write_text_content(BytesText::new(&address))?;
                if let Some(day) = changed {
                    let day = day.to_string();
                    url.create_element("lastmod").write_text_content(BytesText::new(&day))?;
                }
                Ok(())
            })?;
        }
        Ok(())
    })?;
    Ok(writer.into_inner())
}

/// The site in one text, by the convention of llmstxt.org.
async fn llms(State(state): State<AppState>) -> String {
    let link = |path: &str, name: &str, about: &str| {
        format!("- [{name}]({}): {about}\n", state.site.absolute(path))
    };
    let providers: String = state
        .catalog
        .providers()
        .iter()
        .map(|one| {
            let path = format!("/sandboxes/{}.md", one.slug);
            let checked = one.checked_on.map_or_else(String::new, |day| format!(", checked {day}"));
            let about = format!("{}{checked}", one.status.label());
            link(&path, &one.name, &about)
        })
        .collect();
    let data = [
        ("/api/v1/providers", "Providers", "JSON; everything that the catalog holds"),
        ("/api/v1/openapi.json", "OpenAPI", "every question that the API answers"),
        ("/api/v1/schema/provider.json", "Schema", "JSON Schema of a provider's file"),
        ("/catalog.json", "Catalog as JSON", "the table of the start page"),
        ("/catalog.csv", "Catalog as CSV", "the same figures"),
        ("/catalog.md", "Catalog as Markdown", "the same figures"),
    ]
    .map(|(path, name, about)| link(path, name, about))
    .concat();
    let pages = [
        ("/compare", "Comparison", "providers that the router reaches, side by side"),
        ("/calculator", "Runaway cost", "what code costs that nobody stops"),
        ("/calculator/workload", "Workload cost", "a month's bill at every provider"),
        ("/guide", "Guide", "the security model of running untrusted code"),
        ("/methodology", "Methodology", "how prices and scores are made, what is not measured"),
        ("/changes", "Changes", "what changed between revisions of the catalog"),
        ("/changes.atom", "Changes as Atom feed", "the same, to subscribe to"),
    ]
    .map(|(path, name, about)| link(path, name, about))
    .concat();
    format!(
        "# Thud\n\n\
         > The open catalog of code sandboxes for AI agents: what {count} providers cost, how they \
         isolate and what stops a runaway, each value with its source and date.\n\n\
         Revision {revision}, published {published}. Licence of the data: [CC BY 4.0]\
         (https://creativecommons.org/licenses/by/4.0/); name Thud and the revision.\n\n\
         ## How to read it\n\n\
         - Unknown is not zero, not \"no\" and not the default: say that it is unknown. Zero means \
         free.\n\
         - Rank only figures whose `exactness` is `exact`; a range or an assumption has no rank.\n\
         - Money is an exact decimal as a text; do not read it as a float.\n\
         - List is what the vendor asks, routed is list and the router's fee: never mix the two.\n\
         - Where sources disagree, the value is disputed and every claim is kept: say so.\n\
         - Scores are editorial; two points decide nothing.\n\n\
         ## Data\n\n{data}\n\
         The catalog, every provider, every comparison and the calculator also answer as `.json`, \
         `.csv` and `.md` under the same path and query.\n\n\
         ## Pages\n\n{pages}\n\
         ## Providers\n\n{providers}",
        count = state.catalog.providers().len(),
        revision = state.revision.name(),
        published = state.revision.published_at,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::load::{embedded_files, load};
    use crate::moment::today;

    #[test]
    fn a_provider_is_dated_by_its_check_and_any_other_page_by_the_revision() {
        let catalog = load(&embedded_files(), today()).unwrap();
        let revision = Revision {
            number: 1,
            digest: String::new(),
            published_at: "2020-01-02T03:04:05Z".to_owned(),
        };
        let site = Site { base_url: "http://a.example".to_owned(), ..Site::default() };
        let xml = sitemap_of(&catalog, &revision, &site).unwrap();
        let xml = String::from_utf8(xml).unwrap();
        let says = |path: &str, day: &str| {
            xml.contains(&format!("<loc>http://a.example{path}</loc><lastmod>{day}</lastmod>"))
        };
        for path in PAGES {
            assert!(says(path, "2020-01-02"), "{path}: {xml}");
        }
        for provider in catalog.providers() {
            let path = format!("/sandboxes/{}", provider.slug);
            assert!(says(&path, &provider.checked_on.unwrap().to_string()), "{path}: {xml}");
        }
    }

    #[test]
    fn an_address_cannot_break_out_of_the_site_map() {
        let catalog = Catalog::new(Vec::new());
        let revision =
            Revision { number: 1, digest: String::new(), published_at: "never".to_owned() };
        let site = Site { base_url: "http://a.example?<&".to_owned(), ..Site::default() };
        let xml = String::from_utf8(sitemap_of(&catalog, &revision, &site).unwrap()).unwrap();
        assert!(xml.contains("<loc>http://a.example?&lt;&amp;/guide</loc></url>"), "{xml}");
    }
}
