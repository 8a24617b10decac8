//! The catalog of past days: revisions as they stood, prices by their own dates, and what changed in between.

use axum::http::{StatusCode, header};
use jiff::{Timestamp, ToSpan};

use super::harness::TestApp;
use crate::catalog::load::{CatalogFile, embedded_files};
use crate::catalog::store;
use crate::moment::{day_of, today};

/// The built-in files with a text of E2B's put in place of another.
fn files(old: &str, new: &str) -> Vec<CatalogFile> {
    let mut files = embedded_files();
    let file = files.iter_mut().find(|file| file.slug == "e2b").unwrap();
    assert!(file.text.contains(old), "the file has no {old}");
    file.text = file.text.replacen(old, new, 1);
    files
}

/// A site whose first revision is 40 days old, with another score; whose second is 20 days old, without Modal; and
/// whose newest is today's.
async fn site() -> TestApp {
    let days_ago = |days: i64| Timestamp::now() - (days * 24).hours();
    TestApp::after(async |pool| {
        let first = files("value = 85", "value = 80");
        store::publish(&pool, &first, days_ago(40)).await.unwrap();
        let mut second = first;
        second.retain(|file| file.slug != "modal");
        store::publish(&pool, &second, days_ago(20)).await.unwrap();
    })
    .await
}

fn day(days_ago: i64) -> String {
    day_of(Timestamp::now() - (days_ago * 24).hours()).to_string()
}

#[tokio::test]
async fn a_day_with_a_revision_shows_it_as_it_stood() {
    let app = site().await;
    let score = async |query: String| {
        let json = app.get(&format!("/api/v1/providers/e2b{query}")).await.json();
        (json["result"]["quality_score"]["value"].clone(), json["origin"].clone())
    };
    assert_eq!(score(String::new()).await, (85.into(), "current".into()));
    assert_eq!(score(format!("?as_of={}", day(30))).await, (80.into(), "revision".into()));
    assert_eq!(score(format!("?as_of={}", day(40))).await, (80.into(), "revision".into()));
    let page = app.get(&format!("/sandboxes/e2b?as_of={}", day(30))).await;
    assert!(page.text().contains("80 of 100") && page.text().contains("Back to today"));
    // Modal was away for a while.
    let modal = format!("/sandboxes/modal?as_of={}", day(10));
    assert_eq!(app.get(&modal).await.status, StatusCode::NOT_FOUND);
    let modal = format!("/sandboxes/modal?as_of={}", day(30));
    assert_eq!(app.get(&modal).await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_day_before_the_first_revision_shows_only_what_was_seen_by_then() {
    let app = TestApp::new().await;
    let at = async |day: &str| app.get(&format!("/api/v1/providers/e2b?as_of={day}")).await.json();
    let old = at("2020-01-01").await;
    assert_eq!(old["origin"], "evidence");
    let result = &old["result"];
    assert_eq!(result["quality_score"]["state"], "not_scored");
    assert_eq!(result["list"]["state"], "unknown");
    assert_eq!(result["hour"]["estimate"]["exactness"], "unpriced");
    let tier = &result["isolation"]["tier"];
    assert_eq!((&tier["state"], &tier["value"]), (&"unknown".into(), &serde_json::Value::Null));
    assert!(tier["note"].as_str().unwrap().contains("after the day asked about"));
    assert_eq!(result["completeness"]["known"], 0);
    assert_eq!(result["checked_on"], serde_json::Value::Null);
    // What is about today says so whatever is asked.
    for path in ["/changes", "/guide", "/methodology", "/api"] {
        let answer = app.get(&format!("{path}?as_of=2020-01-01")).await;
        assert!(!answer.text().contains("The catalog as of"), "{path}");
    }
    let changes = app.get("/changes.json?as_of=2020-01-01").await.json();
    assert_eq!((&changes["origin"], &changes["as_of"]), (&"current".into(), &day(0).into()));
    let later = at(&day(1)).await;
    assert_eq!(later["result"]["isolation"]["tier"]["value"], "virtual_machine");
    // The router's own prices are of today, and so are unknown yesterday: never the nearest.
    assert_eq!(later["result"]["hour"]["price"], "list");
}

#[tokio::test]
async fn every_surface_knows_the_past_and_refuses_the_future() {
    let app = TestApp::new().await;
    for page in ["/", "/sandboxes/e2b", "/compare", "/compare/e2b-vs-daytona", "/calculator"] {
        let past = app.get(&format!("{page}?as_of=2026-06-01")).await;
        assert_eq!(past.status, StatusCode::OK, "{page}");
        assert!(past.text().contains("The catalog as of"), "{page}");
        for wrong in ["2999-01-01", "yesterday", "2026-02-30", "2026-10"] {
            let answer = app.get(&format!("{page}?as_of={wrong}")).await;
            assert_eq!(answer.status, StatusCode::OK, "{page} {wrong}");
            assert!(answer.text().contains("<code>as_of</code>"), "{page} {wrong}");
            assert!(!answer.text().contains("The catalog as of"), "{page} {wrong}");
        }
    }
    for path in
        ["providers", "providers/e2b", "providers/e2b/prices", "compare", "prices", "exposure"]
    {
        let past = app.get(&format!("/api/v1/{path}?as_of=2026-06-01")).await;
        assert_eq!(past.status, StatusCode::OK, "{path}");
        assert_eq!(past.json()["as_of"], "2026-06-01");
        for wrong in ["2999-01-01", "yesterday", "", "2026-02-30"] {
            let answer = app.get(&format!("/api/v1/{path}?as_of={wrong}")).await;
            assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{path} {wrong}");
            assert_eq!(answer.json()["errors"][0]["field"], "as_of");
        }
    }
    // Links stay with the day.
    let page = app.get("/?as_of=2026-06-01").await;
    assert!(page.text().contains("href=\"/sandboxes/e2b?as_of=2026-06-01\""));
}

#[tokio::test]
async fn a_price_that_changed_is_that_of_the_day() {
    let app = TestApp::new().await;
    // Sprites halved its price of a processor: 0.07 an hour on 2026-07-02, 0.0385 on 2026-10-09.
    let rate = async |day: &str| {
        let query = format!("providers=fly-sprites&price=list&vcpu=1&memory_gib=0&as_of={day}");
        let json = app.get(&format!("/api/v1/prices?{query}")).await.json();
        json["result"][0]["estimate"]["high"].clone()
    };
    assert_eq!(rate("2026-10-08").await, "0.07");
    assert_eq!(rate("2026-10-09").await, "0.0385");
    assert_eq!(rate("2026-07-02").await, "0.07");
    assert_eq!(rate("2026-07-01").await, serde_json::Value::Null);
}

#[tokio::test]
async fn a_revision_is_priced_by_what_is_known_now_of_its_day_and_of_no_later_one() {
    let old = "since = \"2026-10-09\"";
    let app = TestApp::after(async |pool| {
        // The revision of forty days ago knew of no price change on 2026-10-09.
        let mut files = embedded_files();
        let file = files.iter_mut().find(|file| file.slug == "fly-sprites").unwrap();
        let (head, rest) = file.text.split_once("\n[[price]]\nid = \"vcpu\"").unwrap();
        let (_, rest) = rest.split_once("\n[[price]]").unwrap();
        assert!(!head.contains(old));
        file.text = format!("{head}\n[[price]]{rest}");
        let then = Timestamp::now() - (40 * 24).hours();
        store::publish(&pool, &files, then).await.unwrap();
    })
    .await;
    let rate = async |day: &str| {
        let query = format!("providers=fly-sprites&price=list&vcpu=1&memory_gib=0&as_of={day}");
        let json = app.get(&format!("/api/v1/prices?{query}")).await.json();
        (json["result"][0]["estimate"]["high"].clone(), json["origin"].clone())
    };
    assert_eq!(rate(&day(30)).await, ("0.0385".into(), "revision".into()));
    // Routed prices began today: no past table has them.
    for path in ["sandboxes/e2b.csv", "sandboxes/e2b.md", "sandboxes/e2b"] {
        let answer = app.get(&format!("/{path}?as_of={}", day(30))).await;
        assert!(!answer.text().contains("0.0000168"), "{path}");
    }
}

#[tokio::test]
async fn changes_are_told_field_by_field_since_a_revision_and_as_a_feed() {
    let app = site().await;
    let json = app.get("/api/v1/changes").await.json();
    let revisions = json["result"]["revisions"].as_array().unwrap();
    assert_eq!(revisions.len(), 3);
    assert_eq!(revisions[2]["first"], true);
    assert!(!json["result"]["dated"].as_array().unwrap().is_empty());
    let of = |revision: &serde_json::Value, slug: &str| {
        let changes = revision["changes"].as_array().unwrap().clone();
        changes.into_iter().find(|change| change["slug"] == slug).unwrap()
    };
    assert_eq!(of(&revisions[1], "modal")["fate"], "removed");
    assert_eq!(of(&revisions[0], "modal")["fate"], "added");
    let score = of(&revisions[0], "e2b")["fields"][0].clone();
    assert_eq!((&score["key"], &score["before"]), (&"score".into(), &"80 of 100".into()));
    assert_eq!(score["after"], "85 of 100");

    let second = revisions[1]["revision"].as_str().unwrap();
    let json = app.get(&format!("/api/v1/changes?since={second}")).await.json();
    assert_eq!(json["result"]["revisions"].as_array().unwrap().len(), 1);
    assert!(json["result"]["dated"].as_array().unwrap().is_empty());
    let page = app.get(&format!("/changes?since={second}")).await;
    assert!(page.text().contains("80 of 100") && !page.text().contains("id=\"dated\""));
    let wrong = app.get("/changes?since=ffffffffffff").await;
    assert!(wrong.text().contains("names no revision that is told here"));

    let json = app.get("/api/v1/changes?providers=modal").await.json();
    assert_eq!(json["result"]["revisions"].as_array().unwrap().len(), 3);

    for path in ["/changes.atom", "/sandboxes/e2b.atom"] {
        let feed = app.get(path).await;
        assert_eq!(feed.status, StatusCode::OK, "{path}");
        assert!(feed.header(header::CONTENT_TYPE).starts_with("application/atom+xml"));
        let parsed: atom_syndication::Feed = feed.text().parse().unwrap();
        assert!(parsed.entries().iter().any(|one| one.title().as_str().contains("E2B")), "{path}");
        let ids: std::collections::BTreeSet<&str> =
            parsed.entries().iter().map(atom_syndication::Entry::id).collect();
        assert_eq!(ids.len(), parsed.entries().len(), "{path}: an id is there twice");
        let newest = parsed.entries().iter().map(atom_syndication::Entry::updated).max().unwrap();
        assert_eq!(parsed.updated(), newest, "{path}");
    }
    assert_eq!(app.get("/sandboxes/nobody.atom").await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn an_old_price_is_not_ranked_where_an_age_is_named() {
    let app = TestApp::new().await;
    let json = app.get("/api/v1/providers?sort=price&price=list&max_age_days=60").await.json();
    let rows: Vec<_> = json["result"].as_array().unwrap().iter().map(|one| &one["hour"]).collect();
    let first_unranked = rows.iter().position(|hour| hour["ranked"] == false).unwrap();
    assert!(rows[first_unranked..].iter().all(|hour| hour["ranked"] == false));
    let stale = rows.iter().filter(|hour| hour["estimate"]["exactness"] == "exact");
    let stale: Vec<_> = stale.filter(|hour| hour["ranked"] == false).collect();
    assert!(!stale.is_empty());
    for hour in stale {
        let why = hour["unranked_because"].as_str().unwrap();
        let Some(seen) = hour["seen_on"].as_str() else {
            assert!(why.contains("nobody is known to have seen"), "{why}");
            continue;
        };
        let seen: jiff::civil::Date = seen.parse().unwrap();
        assert!(today().since(seen).unwrap().get_days() > 60);
        assert!(why.contains("last seen"));
    }
    let page = app.get("/?sort=price&price=list&max_age_days=60").await;
    assert!(page.text().contains("not ranked: the price was last seen"));
    for wrong in ["0", "-1", "1.5", "x", "99999"] {
        let answer = app.get(&format!("/api/v1/providers?max_age_days={wrong}")).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{wrong}");
    }
}

#[tokio::test]
async fn every_value_leads_to_its_line_and_its_correction() {
    let app = TestApp::new().await;
    let page = app.get("/sandboxes/daytona").await;
    let links: Vec<String> = page
        .text()
        .split("href=\"/sandboxes/daytona/correct?key=")
        .skip(1)
        .map(|part| part.split('"').next().unwrap().to_owned())
        .collect();
    assert!(links.len() > 100, "{}", links.len());
    for key in links {
        let answer = app.get(&format!("/sandboxes/daytona/correct?key={key}")).await;
        assert_eq!(answer.status, StatusCode::OK, "{key}");
        assert!(answer.text().contains("catalog/daytona.toml"), "{key}");
        assert!(answer.text().contains("noindex"), "{key}");
    }
    for (path, status) in [
        ("/sandboxes/daytona/correct", StatusCode::NOT_FOUND),
        ("/sandboxes/daytona/correct?key=no.such", StatusCode::NOT_FOUND),
        ("/sandboxes/nobody/correct?key=score", StatusCode::NOT_FOUND),
    ] {
        assert_eq!(app.get(path).await.status, status, "{path}");
    }
    let app = TestApp::of_repository("https://github.com/name/thud").await;
    let answer = app.get("/sandboxes/e2b/correct?key=egress.allow_list").await;
    let html = answer.text().replace("&amp;", "&");
    assert!(html.contains("https://github.com/name/thud/blob/main/catalog/e2b.toml?plain=1#L"));
    assert!(html.contains(
        "https://github.com/name/thud/issues/new?title=e2b%3A+correct+egress.allow_list&body="
    ));
}
