//! One address, four shapes: page, JSON, CSV and Markdown say the same for the same query; exports too.

use std::collections::BTreeMap;

use axum::http::{StatusCode, header};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::Value;

use super::harness::{Answer, TestApp};
use crate::money::Usd;

/// Queries that are generated for each page.
const QUERIES: usize = 100;

/// Generated queries, the same every time.
fn queries(strategy: impl Strategy<Value = String>) -> Vec<String> {
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    (0..QUERIES).map(|_| strategy.new_tree(&mut runner).unwrap().current()).collect()
}

/// One of some values of a parameter, or none.
fn maybe(name: &'static str, values: &'static [&'static str]) -> impl Strategy<Value = String> {
    proptest::option::of(proptest::sample::select(values))
        .prop_map(move |value| value.map_or_else(String::new, |value| format!("&{name}={value}")))
}

fn listing() -> impl Strategy<Value = String> {
    let shape = (
        maybe("vcpu", &["0.125", "1", "2", "3.5", "64", "1024"]),
        maybe("memory_gib", &["0", "0.5", "2", "16", "500"]),
        maybe("disk_gib", &["0", "5", "10", "200"]),
        maybe("price", &["", "list", "routed"]),
    );
    let filter = (
        maybe("isolation", &["", "virtual_machine", "container", "process", "wasm"]),
        maybe("status", &["", "routed", "listed"]),
        maybe("egress_off", &["1"]),
        maybe("open_source", &["1"]),
        maybe("gpu", &["1"]),
    );
    let order = (
        maybe(
            "sort",
            &["position", "name", "price", "isolation", "egress", "score", "start", "open_source"],
        ),
        maybe("order", &["asc", "desc"]),
        maybe("max_age_days", &["", "30", "60", "3650"]),
        maybe("as_of", &["", "2026-04-01", "2025-01-01", "2026-10-15"]),
        maybe("limit", &["2"]),
    );
    (shape, filter, order).prop_map(|((a, b, c, d), (e, f, g, h, i), (j, k, l, m, n))| {
        [a, b, c, d, e, f, g, h, i, j, k, l, m, n].concat().trim_start_matches('&').to_owned()
    })
}

/// A query as the API takes it: without what only pages ignore.
fn strict(query: &str) -> String {
    let kept = query.split('&').filter(|pair| !pair.ends_with('=') && !pair.starts_with("limit"));
    kept.collect::<Vec<_>>().join("&")
}

/// Rows of a CSV answer by column.
fn records(answer: &Answer) -> Vec<BTreeMap<String, String>> {
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text());
    assert!(answer.header(header::CONTENT_TYPE).starts_with("text/csv"));
    let mut reader = csv::Reader::from_reader(answer.body.as_slice());
    reader.deserialize().map(|record| record.unwrap()).collect()
}

/// The figure of an estimate as every page shows it.
fn shown(estimate: &Value) -> String {
    let usd = |key: &str| estimate[key].as_str().map(|text| Usd::parse(text).unwrap());
    match (usd("usd"), usd("low"), usd("high")) {
        (None, _, _) => "no price".to_owned(),
        (Some(usd), Some(low), Some(high)) if low != high => {
            let range = format!("{} to {}", low.shown(), high.shown());
            let is_end = usd == low || usd == high;
            if is_end { range } else { format!("about {}, {range}", usd.shown()) }
        }
        (Some(usd), Some(low), None) if usd != low => {
            format!("about {}, {} or more", usd.shown(), low.shown())
        }
        (Some(_), Some(low), None) => format!("{} or more", low.shown()),
        (Some(usd), _, _) => usd.shown(),
    }
}

/// Cells of the tables of a page, row by row, without tags.
fn cells(html: &str) -> Vec<Vec<String>> {
    let body = html.split("<tbody").skip(1).map(|part| part.split("</tbody>").next().unwrap());
    body.flat_map(|body| body.split("<tr").skip(1).map(str::to_owned).collect::<Vec<_>>())
        .map(|row| {
            let cells = row.split("</td>").flat_map(|part| part.split("</th>"));
            cells.map(|cell| words(cell.split_once('>').map_or("", |(_, rest)| rest))).collect()
        })
        .collect()
}

fn words(html: &str) -> String {
    let mut words = String::new();
    for part in html.split('<') {
        let text = part.split_once('>').map_or(part, |(_, text)| text);
        words.push_str(text);
        words.push(' ');
    }
    let words = words.replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">");
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Cells of the tables of a Markdown answer, row by row, marks taken back.
fn md_cells(text: &str) -> Vec<Vec<String>> {
    let rows = text.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| ---"));
    rows.map(|row| {
        let plain = row.replace("\\|", "\u{1}").replace('\\', "");
        let inner = plain.trim_matches('|').to_owned();
        inner.split(" | ").map(|cell| cell.trim().replace('\u{1}', "|")).collect()
    })
    .collect()
}

#[tokio::test]
async fn the_catalog_is_the_same_in_all_four_shapes() {
    let app = TestApp::new().await;
    let mut rows = 0;
    for query in queries(listing()) {
        let page = app.get(&format!("/?{query}")).await;
        let json = app.get(&format!("/catalog.json?{query}")).await;
        let api = app.get(&format!("/api/v1/providers?{}", strict(&query))).await;
        assert_eq!(json.body, api.body, "{query}");
        let csv = records(&app.get(&format!("/catalog.csv?{query}")).await);
        let md = app.get(&format!("/catalog.md?{query}")).await;
        let md: Vec<_> = md_cells(md.text()).into_iter().skip(1).collect();
        let cells = cells(page.text());
        let json = json.json();
        let all = json["result"].as_array().unwrap();
        assert_eq!(
            (all.len(), all.len(), all.len()),
            (csv.len(), md.len(), cells.len()),
            "{query}"
        );
        for (((one, csv), md), cells) in all.iter().zip(&csv).zip(&md).zip(&cells) {
            let (name, hour) = (one["name"].as_str().unwrap(), &one["hour"]);
            let figure = shown(&hour["estimate"]);
            assert_eq!(csv["slug"], one["slug"].as_str().unwrap(), "{query}");
            assert_eq!(md[0], name, "{query}");
            assert!(cells[1].ends_with(name), "{query}: {cells:?}");
            assert_eq!(csv["hour_usd"], hour["estimate"]["usd"].as_str().unwrap_or(""), "{query}");
            assert_eq!(csv["hour_low_usd"], hour["estimate"]["low"].as_str().unwrap_or(""));
            assert_eq!(csv["exactness"], hour["estimate"]["exactness"].as_str().unwrap());
            assert!(cells[2].starts_with(&figure), "{query}: {cells:?} {figure}");
            assert!(md[1].starts_with(&figure), "{query}: {md:?} {figure}");
            // Every other cell says the same words in both.
            for (place, cell) in cells.iter().enumerate().skip(2).take(6) {
                let bare = |text: &str| text.replace(['(', ')', ';', ','], "").replace("  ", " ");
                assert_eq!(bare(cell), bare(&md[place - 1]), "{query}");
            }
            rows += 1;
        }
    }
    assert!(rows > 200, "only {rows} rows were compared");
}

#[tokio::test]
async fn every_provider_is_the_same_in_all_shapes() {
    let app = TestApp::new().await;
    let all = app.get("/catalog.json").await.json();
    let mut priced = 0;
    for provider in all["result"].as_array().unwrap() {
        let slug = provider["slug"].as_str().unwrap();
        for query in ["", "?as_of=2026-06-01"] {
            let json = app.get(&format!("/sandboxes/{slug}.json{query}")).await;
            let api = app.get(&format!("/api/v1/providers/{slug}{query}")).await;
            assert_eq!(json.body, api.body, "{slug}");
            let csv = records(&app.get(&format!("/sandboxes/{slug}.csv{query}")).await);
            let md = app.get(&format!("/sandboxes/{slug}.md{query}")).await;
            let page = app.get(&format!("/sandboxes/{slug}{query}")).await;
            let md = md.text().replace('\\', "");
            let page = words(page.text());
            let json = json.json();
            let rows = app.get(&format!("/api/v1/providers/{slug}/prices{query}")).await.json();
            for one in &csv {
                let key: Vec<&str> = one["key"].split('.').collect();
                let view_of = |list: &str, id: &str| {
                    let list = json["result"][list].as_array().unwrap();
                    list.iter().find(|one| one["id"] == id).unwrap()
                };
                let view = match key.as_slice() {
                    ["price", id] => {
                        let rows = rows["result"].as_array().unwrap();
                        let row = rows.iter().find(|row| row["id"] == *id).unwrap();
                        let usd = row["rate"]["usd"].as_str().unwrap();
                        let bundled = row["billing_basis"] == "bundled";
                        assert!(bundled || one["value"] == usd, "{slug} {id}");
                        assert!(bundled || (md.contains(usd) && page.contains(usd)), "{slug} {id}");
                        priced += 1;
                        continue;
                    }
                    ["variant", id, section, key] => &view_of("variants", id)[*section][*key],
                    ["plan", id, key] => &view_of("plans", id)[*key],
                    [section, key] => &json["result"][*section][*key],
                    _ => continue,
                };
                let Some(state) = view["state"].as_str() else { continue };
                assert_eq!(one["state"], state, "{slug} {key:?}");
                if let Some(text) = view["value"].as_str() {
                    // Words of a closed list are told as people read them.
                    let is_word = matches!(key.last(), Some(&"tier" | &"paused"));
                    let text = if is_word { &text.replace('_', " ") } else { text };
                    assert_eq!(one["value"].trim_start_matches('\''), text, "{slug} {key:?}");
                    let shown = match one["unit"].as_str() {
                        "USD" => Usd::parse(text).unwrap().shown(),
                        _ => text.to_owned(),
                    };
                    let shown = shown.trim_start_matches("https://");
                    assert!(page.contains(&words(shown)), "{slug} {key:?} {shown}");
                    assert!(md.contains(text), "{slug} {key:?} {text}");
                }
            }
        }
    }
    assert!(priced > 60, "only {priced} prices were compared");
}

#[tokio::test]
async fn a_comparison_is_the_same_in_all_shapes() {
    let app = TestApp::new().await;
    let slugs = &[
        "e2b-vs-daytona",
        "e2b-vs-modal",
        "daytona-vs-blaxel-vs-koyeb",
        "e2b-vs-daytona-vs-piston",
    ];
    let strategy = (
        proptest::sample::select(&slugs[..]),
        maybe("only_differences", &["1"]),
        maybe("only_undisputed", &["1"]),
        maybe("as_of", &["2026-07-01", "2026-11-01"]),
    )
        .prop_map(|(slugs, a, b, c)| {
            format!("{slugs}?{}", [a, b, c].concat().trim_start_matches('&'))
        });
    for address in queries(strategy).into_iter().take(24) {
        let (slugs, query) = address.split_once('?').unwrap();
        let json = app.get(&format!("/compare/{slugs}.json?{query}")).await;
        let providers = slugs.replace("-vs-", ",");
        let api = app.get(&format!("/api/v1/compare?providers={providers}&{query}")).await;
        assert_eq!(json.body, api.body, "{address}");
        let csv = records(&app.get(&format!("/compare/{slugs}.csv?{query}")).await);
        let md = app.get(&format!("/compare/{slugs}.md?{query}")).await.text().replace('\\', "");
        let page = words(app.get(&format!("/compare/{slugs}?{query}")).await.text());
        let json = json.json();
        let mut entries = Vec::new();
        for group in json["result"]["groups"].as_array().unwrap() {
            for row in group["rows"].as_array().unwrap() {
                for cell in row["cells"].as_array().unwrap() {
                    for entry in cell["entries"].as_array().unwrap() {
                        entries.push((
                            row["key"].as_str().unwrap(),
                            cell["slug"].as_str().unwrap(),
                            entry,
                        ));
                    }
                }
            }
        }
        assert_eq!(entries.len(), csv.len(), "{address}");
        assert!(entries.len() > 20 || query.contains("only"), "{address}");
        for ((key, slug, entry), record) in entries.into_iter().zip(&csv) {
            assert_eq!((record["key"].as_str(), record["slug"].as_str()), (key, slug), "{address}");
            assert_eq!(record["state"], entry["state"].as_str().unwrap());
            if let Some(text) = entry["text"].as_str() {
                assert_eq!(record["value"].trim_start_matches('\''), text, "{address} {key}");
                assert!(
                    page.contains(&words(text.trim_start_matches("https://"))),
                    "{address} {text}"
                );
                assert!(md.contains(text), "{address} {text}");
            }
        }
    }
}

#[tokio::test]
async fn a_runaway_costs_the_same_in_all_shapes() {
    let app = TestApp::new().await;
    let strategy = (
        maybe("vcpu", &["0.5", "1", "2", "4", "8"]),
        maybe("memory_gib", &["0", "1", "2", "8"]),
        maybe("runaways", &["1", "20", "10000"]),
        maybe("noticed_after_seconds", &["1", "3600", "28800", "2592000"]),
        maybe("timeout_seconds", &["1", "90", "none", "2592000"]),
        maybe("attempts", &["1", "3", "100"]),
        maybe("price", &["list", "routed"]),
        maybe("as_of", &["2026-11-01"]),
    )
        .prop_map(|(a, b, c, d, e, f, g, h)| {
            [a, b, c, d, e, f, g, h].concat().trim_start_matches('&').to_owned()
        });
    for query in queries(strategy) {
        let json = app.get(&format!("/calculator.json?{query}")).await;
        let api = app.get(&format!("/api/v1/exposure?{query}")).await;
        assert_eq!(json.body, api.body, "{query}");
        let csv = records(&app.get(&format!("/calculator.csv?{query}")).await);
        let md = app.get(&format!("/calculator.md?{query}")).await.text().replace('\\', "");
        let page = words(app.get(&format!("/calculator?{query}")).await.text());
        for one in json.json()["result"].as_array().unwrap() {
            for (figure, name) in [
                ("second", "usd_per_second"),
                ("hour", "usd_per_hour"),
                ("day", "usd_per_day"),
                ("until_noticed", "until_noticed"),
                ("with_timeout", "with_timeout"),
                ("saved", "saved"),
            ] {
                let record = csv.iter().find(|record| {
                    record["slug"] == one["slug"].as_str().unwrap() && record["figure"] == figure
                });
                let record = record.unwrap();
                let (cpu, whole) = (&one["cpu"][name], &one["whole"][name]);
                assert_eq!(
                    record["cpu_usd"],
                    cpu["usd"].as_str().unwrap_or(""),
                    "{query} {figure}"
                );
                assert_eq!(record["whole_usd"], whole["usd"].as_str().unwrap_or(""), "{query}");
                for estimate in [cpu, whole].into_iter().filter(|estimate| !estimate.is_null()) {
                    // The page shows one price kind; what the query names is the one.
                    let routed_or_named = query.contains("price=") || one["price"] == "routed";
                    assert!(
                        !routed_or_named || page.contains(&shown(estimate)),
                        "{query} {figure}"
                    );
                    assert!(md.contains(&shown(estimate)), "{query} {figure}");
                }
            }
        }
    }
}

#[tokio::test]
async fn a_workload_costs_the_same_in_all_shapes() {
    let app = TestApp::new().await;
    let strategy = (
        maybe("vcpu", &["0.5", "1", "2", "4", "8"]),
        maybe("memory_gib", &["0", "1", "2", "8"]),
        maybe("disk_gib", &["0", "5", "20"]),
        maybe("runs_per_day", &["1", "1000", "100000"]),
        maybe("seconds_per_run", &["0.3", "8", "61", "90000"]),
        maybe("peak_concurrency", &["1", "20", "21", "100000"]),
        maybe("creates_per_second", &["1", "2", "50"]),
        maybe("utilisation_percent", &["1", "30", "100"]),
        (maybe("price", &["list", "routed"]), maybe("paused_hours", &["0", "720"])),
        maybe("as_of", &["2026-10-15"]),
    )
        .prop_map(|(a, b, c, d, e, f, g, h, (i, j), k)| {
            [a, b, c, d, e, f, g, h, i, j, k].concat().trim_start_matches('&').to_owned()
        });
    for query in queries(strategy) {
        let json = app.get(&format!("/calculator/workload.json?{query}")).await;
        let api = app.get(&format!("/api/v1/workload?{query}")).await;
        assert_eq!(json.body, api.body, "{query}");
        let csv = records(&app.get(&format!("/calculator/workload.csv?{query}")).await);
        let md = app.get(&format!("/calculator/workload.md?{query}")).await;
        let md: Vec<_> = md_cells(md.text()).into_iter().skip(1).take(csv.len()).collect();
        let page = app.get(&format!("/calculator/workload?{query}")).await;
        let page = cells(page.text());
        let json = json.json();
        let all = json["result"].as_array().unwrap();
        assert_eq!((all.len(), all.len(), all.len()), (csv.len(), md.len(), page.len()), "{query}");
        for (((one, record), md), cells) in all.iter().zip(&csv).zip(&md).zip(&page) {
            let (name, total) = (one["name"].as_str().unwrap(), &one["total"]);
            assert_eq!(record["name"], name, "{query}");
            assert_eq!((md[1].as_str(), cells[1].starts_with(name)), (name, true), "{query}");
            let rank = one["rank"].as_u64().map_or_else(String::new, |rank| rank.to_string());
            assert_eq!(record["rank"], rank, "{query}");
            assert_eq!(record["total_usd"], total["usd"].as_str().unwrap_or(""), "{query}");
            assert_eq!(record["low_usd"], total["low"].as_str().unwrap_or(""), "{query}");
            let direct = shown(&one["direct"]);
            assert_eq!((&md[2], &cells[2]), (&direct, &direct), "{query} {name}");
            let routed = if one["routed"].is_null() { None } else { Some(shown(&one["routed"])) };
            assert_eq!(
                cells[3],
                routed.clone().unwrap_or_else(|| "–".to_owned()),
                "{query} {name}"
            );
            assert_eq!(md[3], routed.unwrap_or_default(), "{query} {name}");
            let thousand = shown(&one["per_thousand_runs"]);
            assert_eq!((&md[6], &cells[5]), (&thousand, &thousand), "{query} {name}");
        }
    }
}

#[tokio::test]
async fn changes_are_the_same_in_all_shapes_and_never_empty() {
    let app = TestApp::new().await;
    for query in ["", "?providers=e2b", "?providers=e2b,modal"] {
        let json = app.get(&format!("/changes.json{query}")).await;
        let api = app.get(&format!("/api/v1/changes{query}")).await;
        assert_eq!(json.body, api.body);
        let csv = records(&app.get(&format!("/changes.csv{query}")).await);
        let md = app.get(&format!("/changes.md{query}")).await.text().replace('\\', "");
        let page = words(app.get(&format!("/changes{query}")).await.text());
        let json = json.json();
        let dated = json["result"]["dated"].as_array().unwrap();
        assert!(!dated.is_empty(), "{query}");
        assert_eq!(dated.len(), csv.len(), "{query}");
        for (one, record) in dated.iter().zip(&csv) {
            let text = |key: &str| one[key].as_str().unwrap().to_owned();
            assert_eq!(
                (record["since"].clone(), record["after"].clone()),
                (text("since"), text("after"))
            );
            for shape in [&page, &md] {
                assert!(shape.contains(&text("label")) && shape.contains(&text("after")), "{one}");
            }
        }
    }
}

#[tokio::test]
async fn what_a_twin_cannot_read_is_a_problem_and_never_a_figure() {
    let app = TestApp::new().await;
    for (address, status) in [
        ("/catalog.csv?vcpu=many", StatusCode::BAD_REQUEST),
        ("/catalog.json?isolation=paper", StatusCode::BAD_REQUEST),
        ("/catalog.md?as_of=2999-01-01", StatusCode::BAD_REQUEST),
        ("/sandboxes/e3b.csv", StatusCode::NOT_FOUND),
        ("/compare/e2b.md", StatusCode::BAD_REQUEST),
        ("/compare/e2b-vs-nobody.json", StatusCode::BAD_REQUEST),
        ("/changes.json?since=0123456789ab", StatusCode::BAD_REQUEST),
        ("/calculator.md?runaways=1e9", StatusCode::BAD_REQUEST),
        ("/calculator/workload.csv?seconds_per_run=1,5", StatusCode::BAD_REQUEST),
    ] {
        let answer = app.get(address).await;
        assert_eq!(answer.status, status, "{address}");
        assert_eq!(answer.header(header::CONTENT_TYPE), "application/problem+json", "{address}");
        assert!(answer.json()["detail"].as_str().unwrap().len() > 20, "{address}");
    }
    assert_eq!(app.get("/guide.json").await.status, StatusCode::NOT_FOUND);
    let twin = app.get("/catalog.csv?utm_source=mail").await;
    assert_eq!(twin.status, StatusCode::OK);
    assert_eq!(twin.header(header::ACCESS_CONTROL_ALLOW_ORIGIN), "*");
}

#[tokio::test]
async fn an_export_holds_what_the_site_answers() {
    let (app, state) = TestApp::with_state().await;
    let folder = tempfile::tempdir().unwrap();
    let providers = state.catalog.providers().len();
    let written = crate::server::export(state, folder.path()).await.unwrap();
    assert_eq!(written, 3 * (providers + 5) + 4);
    for address in
        ["catalog.json", "sandboxes/e2b.csv", "compare/e2b-vs-daytona.md", "changes.atom"]
    {
        let file = std::fs::read(folder.path().join(address)).unwrap();
        assert_eq!(file, app.get(&format!("/{address}")).await.body, "{address}");
    }
    assert!(folder.path().join("LICENCE.txt").is_file());
}
