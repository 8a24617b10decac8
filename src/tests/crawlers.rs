//! What crawlers, chat previews and language models are told, through the real routes.

use std::collections::BTreeSet;

use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use resvg::tiny_skia::Pixmap;
use resvg::usvg::roxmltree::{Document, Node};
use serde_json::Value;

use super::harness::{Answer, TestApp};
use crate::catalog::load::{embedded_files, load};
use crate::moment::today;

/// Where a test's site is reached, if it is told nothing else.
const LOCAL: &str = "http://127.0.0.1:3000";
/// Where the world reaches it, in tests that say so.
const PUBLIC: &str = "https://thud.example";
/// The page of every image, as the stylesheet's light palette has it.
const PAPER: [u8; 3] = [0xfc, 0xfc, 0xf9];
/// Nothing but paper is nearer to the right edge, pixels.
const MARGIN: u32 = 60;

fn slugs() -> Vec<String> {
    let catalog = load(&embedded_files(), today()).unwrap();
    catalog.providers().iter().map(|one| one.slug.to_string()).collect()
}

/// Every address of a site map, each with a day.
fn site_map(answer: &Answer) -> Vec<String> {
    let document = Document::parse(answer.text()).unwrap();
    let root = document.root_element();
    assert!(root.has_tag_name(("http://www.sitemaps.org/schemas/sitemap/0.9", "urlset")));
    let text = |url: Node<'_, '_>, name: &str| {
        let found = url.children().find(|child| child.tag_name().name() == name);
        found.and_then(|child| child.text()).unwrap().to_owned()
    };
    let urls = root.children().filter(|node| node.tag_name().name() == "url");
    urls.map(|url| {
        assert_eq!(text(url, "lastmod").len(), "2026-11-30".len());
        text(url, "loc")
    })
    .collect()
}

/// What a page says under a property of Open Graph.
fn property<'a>(html: &'a str, name: &str) -> &'a str {
    let start = format!("property=\"{name}\" content=\"");
    let (_, after) = html.split_once(&start).unwrap_or_else(|| panic!("no {name} in {html}"));
    after.split('"').next().unwrap()
}

/// The data block of a page.
fn block(html: &str) -> Value {
    let (_, after) = html.split_once("<script type=\"application/ld+json\">").unwrap();
    serde_json::from_str(after.split("</script>").next().unwrap()).unwrap()
}

async fn ask(app: &TestApp, path: &str) -> Answer {
    let request = Request::get(path).header(header::HOST, "thud.example");
    app.send(request.body(Body::empty()).unwrap()).await
}

#[tokio::test]
async fn the_site_map_names_every_page_and_each_is_there() {
    let app = TestApp::new().await;
    let answer = app.get("/sitemap.xml").await;
    assert_eq!(answer.header(header::CONTENT_TYPE), "application/xml");
    let pages = site_map(&answer);
    let paths: Vec<&str> =
        pages.iter().map(|address| address.strip_prefix(LOCAL).unwrap()).collect();
    for path in ["/", "/compare", "/compare/e2b-vs-daytona", "/calculator", "/changes", "/api"] {
        assert!(paths.contains(&path), "{path}");
    }
    for slug in slugs() {
        assert!(paths.contains(&format!("/sandboxes/{slug}").as_str()), "{slug}");
    }
    assert_eq!(paths.iter().collect::<BTreeSet<_>>().len(), paths.len(), "an address twice");
    for path in &paths {
        assert_eq!(app.get(path).await.status, StatusCode::OK, "{path}");
    }
}

#[tokio::test]
async fn every_absolute_address_follows_the_public_name() {
    let app = TestApp::at(Some(PUBLIC)).await;
    for path in ["/sitemap.xml", "/robots.txt", "/llms.txt", "/", "/sandboxes/e2b"] {
        let answer = ask(&app, path).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}");
        assert!(answer.text().contains(PUBLIC), "{path}");
        assert!(!answer.text().contains("127.0.0.1"), "{path}");
    }
    let html = ask(&app, "/sandboxes/e2b?x=1").await.text().to_owned();
    assert_eq!(property(&html, "og:url"), "https://thud.example/sandboxes/e2b");
    assert_eq!(property(&html, "og:image"), "https://thud.example/share/e2b.png");
    let canonical = html.split('<').find(|tag| tag.contains("canonical")).unwrap();
    assert!(canonical.contains("href=\"https://thud.example/sandboxes/e2b\""), "{canonical}");
    let local = TestApp::new().await.get("/sandboxes/e2b").await.text().to_owned();
    assert_eq!(property(&local, "og:image"), "http://127.0.0.1:3000/share/e2b.png");
    assert!(!local.contains("canonical"));
}

#[tokio::test]
async fn a_page_names_its_own_image_and_that_is_there() {
    let app = TestApp::new().await;
    for (path, image, title) in [
        ("/", "site", "Code sandboxes for AI agents, compared"),
        ("/sandboxes/e2b", "e2b", "E2B"),
        ("/sandboxes/daytona", "daytona", "Daytona"),
        ("/compare/e2b-vs-daytona", "e2b-vs-daytona", "E2B vs Daytona"),
        ("/compare/e2b-vs-modal", "site", "E2B vs Modal Sandboxes"),
        ("/guide", "site", "Running code from agents"),
        ("/sandboxes/nobody", "site", "No such provider"),
    ] {
        let html = app.get(path).await.text().to_owned();
        let address = property(&html, "og:image");
        assert_eq!(address, format!("{LOCAL}/share/{image}.png"), "{path}");
        assert!(property(&html, "og:title").starts_with(title), "{path}: {html}");
        assert_eq!(property(&html, "og:image:width"), "1200");
        assert_eq!(property(&html, "og:image:height"), "630");
        assert!(!property(&html, "og:description").is_empty(), "{path}");
        assert!(html.contains("name=\"twitter:card\" content=\"summary_large_image\""), "{path}");
        let answer = app.get(address.strip_prefix(LOCAL).unwrap()).await;
        assert_eq!(answer.status, StatusCode::OK, "{address}");
    }
}

#[tokio::test]
async fn every_image_has_one_size_its_own_content_and_an_empty_margin() {
    let app = TestApp::new().await;
    let mut names = slugs();
    names.extend(["site".to_owned(), "e2b-vs-daytona".to_owned()]);
    let mut seen = BTreeSet::new();
    for name in names {
        let answer = app.get(&format!("/share/{name}.png")).await;
        assert_eq!(answer.status, StatusCode::OK, "{name}");
        assert_eq!(answer.header(header::CONTENT_TYPE), "image/png");
        assert!(answer.header(header::CACHE_CONTROL).starts_with("public"), "{name}");
        let image = Pixmap::decode_png(&answer.body).unwrap();
        assert_eq!((image.width(), image.height()), (1_200, 630), "{name}");
        let is_paper = |x: u32, y: u32| {
            let pixel = image.pixel(x, y).unwrap();
            [pixel.red(), pixel.green(), pixel.blue()] == PAPER
        };
        let edge = (0..630).flat_map(|y| (1_200 - MARGIN..1_200).map(move |x| (x, y)));
        assert!(edge.into_iter().all(|(x, y)| is_paper(x, y)), "{name} runs over its margin");
        assert!(seen.insert(answer.body), "{name} looks like another");
    }
}

#[tokio::test]
async fn there_are_no_other_images() {
    let app = TestApp::new().await;
    for name in [
        "nobody.png",
        "e2b",
        "e2b.svg",
        ".png",
        "daytona-vs-e2b.png",
        "e2b-vs-e2b.png",
        "e2b-vs-modal.png",
        "e2b-vs-daytona-vs-modal.png",
        "e2b-vs-nobody.png",
        "%FF.png",
        "%3Csvg%3E.png",
    ] {
        let answer = app.get(&format!("/share/{name}")).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{name}");
        assert_eq!(answer.header(header::CACHE_CONTROL), "no-store", "{name}");
    }
}

#[tokio::test]
async fn the_catalog_is_a_data_set_under_its_licence() {
    let html = TestApp::new().await.get("/").await.text().to_owned();
    let data = block(&html);
    assert_eq!(data["@type"], "Dataset");
    assert_eq!(data["license"], "https://creativecommons.org/licenses/by/4.0/");
    assert_eq!(data["creator"]["name"], "Thud");
    assert!(data["dateModified"].as_str().unwrap().starts_with(&today().to_string()));
    assert!(html.contains(&format!("<code>{}</code>", data["version"].as_str().unwrap())));
    let files: Vec<&str> = data["distribution"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file["contentUrl"].as_str().unwrap().strip_prefix(LOCAL).unwrap())
        .collect();
    assert_eq!(files, ["/catalog.json", "/catalog.csv", "/catalog.md"]);
}

#[tokio::test]
async fn a_provider_offers_what_its_list_prices_say_and_nothing_that_is_included() {
    let app = TestApp::new().await;
    let data = block(app.get("/sandboxes/e2b").await.text());
    assert_eq!(data["@type"], "Service");
    assert_eq!(data["name"], "E2B");
    let offers = data["offers"].as_array().unwrap();
    let names: Vec<&str> = offers.iter().map(|one| one["name"].as_str().unwrap()).collect();
    // Disk is included, and the router's prices are not the vendor's offers.
    assert_eq!(names, ["vCPU", "memory"]);
    let price = &offers[0]["priceSpecification"];
    assert_eq!(price["@type"], "UnitPriceSpecification");
    assert_eq!(price["price"], "0.000014");
    assert_eq!(price["priceCurrency"], "USD");
    assert_eq!(price["unitText"], "vCPU-second");
    assert_eq!(price["validFrom"], "2024-01-05");
    // Sources disagree about its disk, and its rates were first seen on a day, not begun on it.
    let data = block(app.get("/sandboxes/daytona").await.text());
    let offers = data["offers"].as_array().unwrap();
    let names: Vec<&str> = offers.iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["vCPU", "memory"]);
    assert_eq!(offers[1]["priceSpecification"]["price"], "0.0162");
    assert_eq!(offers[1]["priceSpecification"]["unitText"], "GiB-hour");
    assert_eq!(offers[1]["priceSpecification"].get("validFrom"), None);
    assert!(offers[1]["description"].as_str().unwrap().contains("first seen on 2026-03-16"));
}

#[tokio::test]
async fn no_provider_offers_anything_for_nothing() {
    let app = TestApp::new().await;
    let catalog = load(&embedded_files(), today()).unwrap();
    let mut with_offers = 0;
    for provider in catalog.providers() {
        let data = block(app.get(&format!("/sandboxes/{}", provider.slug)).await.text());
        assert_eq!(data["name"], provider.name.as_str());
        let Some(offers) = data["offers"].as_array() else { continue };
        with_offers += 1;
        for offer in offers {
            assert_ne!(offer["priceSpecification"]["price"], "0", "{}: {offer}", provider.slug);
        }
    }
    assert!(with_offers > 10 && with_offers < catalog.providers().len(), "{with_offers}");
}

#[tokio::test]
async fn robots_may_read_all_but_forms_and_learn_of_the_site_map() {
    let answer = TestApp::new().await.get("/robots.txt").await;
    assert!(answer.header(header::CONTENT_TYPE).starts_with("text/plain"));
    let lines: Vec<&str> = answer.text().lines().collect();
    for line in [
        "User-agent: *",
        "Allow: /",
        "Allow: /share/",
        "Disallow: /sandboxes/*/correct",
        "Sitemap: http://127.0.0.1:3000/sitemap.xml",
    ] {
        assert!(lines.contains(&line), "{line}");
    }
}

#[tokio::test]
async fn language_models_learn_the_rules_and_the_way_to_the_data() {
    let answer = TestApp::new().await.get("/llms.txt").await;
    assert!(answer.header(header::CONTENT_TYPE).starts_with("text/plain"));
    let text = answer.text();
    assert!(text.starts_with("# Thud\n\n> "), "{text}");
    assert_eq!(text.lines().filter(|line| line.starts_with("# ")).count(), 1);
    for words in ["Unknown is not zero", "`exact`", "CC BY 4.0", "\n## Data\n", "\n## Providers\n"]
    {
        assert!(text.contains(words), "{words}");
    }
    for path in ["/api/v1/openapi.json", "/api/v1/schema/provider.json", "/catalog.csv"] {
        assert!(text.contains(&format!("({LOCAL}{path})")), "{path}");
    }
    assert!(text.contains(&format!("({LOCAL}/changes.atom)")));
    for slug in slugs() {
        assert!(text.contains(&format!("({LOCAL}/sandboxes/{slug}.md)")), "{slug}");
    }
}
