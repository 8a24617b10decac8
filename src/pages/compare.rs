//! `/compare` and `/compare/{slugs}`: a verdict first, then every difference, row by row.

use axum::http::StatusCode;
use leptos::prelude::*;
use leptos_router::hooks::use_params_map;

use super::problem::{NotFound, moved, redirect, set_status, ways_on};
use crate::calculator::workload::Workload;
use crate::catalog::{Catalog, Provider, Shape};
use crate::comparison::{COMPARED_MAX, Comparison, Finding, Group, JOINT, Pick, Row};
use crate::moment::today;
use crate::parts::day::{dated, edition, hidden_day, oldest};
use crate::parts::entry::{Detail, cell};
use crate::parts::layout::{head, query};
use crate::parts::mark::named;
use crate::parts::notice::notice;
use crate::parts::twins::twins;
use crate::query::{Query, nearest, shortened};

/// All routed providers side by side.
#[component]
pub fn CompareAll() -> impl IntoView {
    let catalog = edition().catalog;
    let asked = Query::of_page(query().as_deref());
    let mut picked = asked.repeated("p");
    let named = asked.repeated("providers");
    picked.extend(named.iter().flat_map(|list| list.split(',')).map(str::to_owned));
    picked.retain(|slug| !slug.is_empty());
    if !picked.is_empty() {
        // The boxes of a form: their comparison has an address of its own.
        return match named_in(&catalog, &picked.join(JOINT)) {
            Ok(providers) => moved(&dated(&Comparison::address(&providers))),
            Err(wrong) => helpful(&wrong),
        };
    }
    let providers = Comparison::by_default(&catalog);
    compared(&catalog, providers, "/compare")
}

/// Those that the address names, or what is wrong with it.
#[component]
pub fn Compare() -> impl IntoView {
    let catalog = edition().catalog;
    let Some(slugs) = use_params_map().read_untracked().get("slugs") else {
        return view! { <NotFound/> }.into_any();
    };
    match named_in(&catalog, &slugs.to_lowercase()) {
        Ok(providers) => {
            let address = Comparison::address(&providers);
            if address == format!("/compare/{slugs}") {
                compared(&catalog, providers, &address)
            } else {
                redirect(&address)
            }
        }
        Err(wrong) => helpful(&wrong),
    }
}

/// What is wrong with the slugs of an address, and what to do instead.
struct Wrong {
    status: StatusCode,
    title: &'static str,
    words: String,
    links: Vec<(String, String)>,
}

/// The providers of an address such as `e2b-vs-daytona`, in its order.
fn named_in<'a>(catalog: &'a Catalog, slugs: &str) -> Result<Vec<&'a Provider>, Wrong> {
    let parts: Vec<&str> = slugs.split(JOINT).collect();
    if parts.len() > COMPARED_MAX {
        return Err(Wrong {
            status: StatusCode::BAD_REQUEST,
            title: "Too many at once",
            words: format!(
                "{} providers are named; up to {COMPARED_MAX} fit beside each other.",
                parts.len()
            ),
            links: Vec::new(),
        });
    }
    let mut found: Vec<&Provider> = Vec::new();
    let mut meant: Vec<&Provider> = Vec::new();
    let mut unknown: Vec<String> = Vec::new();
    let mut twice = false;
    for part in parts {
        match catalog.find(part) {
            Some(known) if names(&found, known) => twice = true,
            Some(known) => {
                found.push(known);
                if !names(&meant, known) {
                    meant.push(known);
                }
            }
            None => {
                unknown.push(shortened(part));
                meant.extend(nearest(catalog, part).filter(|near| !names(&meant, near)));
            }
        }
    }
    let vs = |pair: &[&Provider]| {
        let names: Vec<&str> = pair.iter().map(|provider| provider.name.as_str()).collect();
        (Comparison::address(pair), names.join(" vs "))
    };
    if !unknown.is_empty() {
        let links = match meant.as_slice() {
            [] => Vec::new(),
            [one] => vec![(format!("/sandboxes/{}", one.slug), one.name.clone())],
            several => vec![vs(several)],
        };
        return Err(Wrong {
            status: StatusCode::NOT_FOUND,
            title: "Not all of these are in the catalog",
            words: format!("The catalog has no {}.", unknown.join(" and no ")),
            links,
        });
    }
    match found.as_slice() {
        [only] => {
            let others = catalog.routed().filter(|other| other.slug != only.slug);
            let mut links: Vec<_> = others.map(|other| vs(&[only, other])).collect();
            links.push((format!("/sandboxes/{}", only.slug), format!("{} alone", only.name)));
            Err(Wrong {
                status: StatusCode::BAD_REQUEST,
                title: "One is not a comparison",
                words: if twice {
                    format!("{} is named twice.", only.name)
                } else {
                    format!("Only {} is named.", only.name)
                },
                links,
            })
        }
        several if twice => Err(Wrong {
            status: StatusCode::BAD_REQUEST,
            title: "One is named twice",
            words: "Each provider stands in a comparison once.".to_owned(),
            links: vec![vs(several)],
        }),
        _ => Ok(found),
    }
}

fn names(list: &[&Provider], wanted: &Provider) -> bool {
    list.iter().any(|other| other.slug == wanted.slug)
}

fn helpful(wrong: &Wrong) -> AnyView {
    set_status(wrong.status);
    let links: Vec<_> = wrong
        .links
        .iter()
        .map(|(href, words)| view! { <li><a href=dated(href)>{words.clone()}</a></li> })
        .collect();
    let meant = (!links.is_empty()).then(|| view! { <p>"Perhaps you meant:"</p><ul>{links}</ul> });
    view! {
        {head(wrong.title, wrong.words.clone())}
        <h1>{wrong.title}</h1>
        <p class="lead">{wrong.words.clone()}</p>
        {meant}
        {ways_on()}
    }
    .into_any()
}

fn compared(catalog: &Catalog, providers: Vec<&Provider>, address: &str) -> AnyView {
    let mut query = Query::of_page(query().as_deref());
    let on = query.as_of(today());
    let differences = query.switch("only_differences");
    let undisputed = query.switch("only_undisputed");
    let errors = query.errors();
    let is_read = errors.is_empty();
    let names: Vec<String> = providers.iter().map(|one| one.name.clone()).collect();
    let title = names.join(" vs ");
    let comparison = match Comparison::of(providers, on) {
        Ok(comparison) => comparison.only(differences, undisputed),
        // Only absurd prices leave the exact range, and the catalog refuses those.
        Err(error) => {
            set_status(StatusCode::INTERNAL_SERVER_ERROR);
            return view! { <h1>"This comparison cannot be computed"</h1><p>{error.to_string()}</p> }.into_any();
        }
    };
    let description = format!(
        "{title}: prices, default bills, isolation, timeouts, limits and sources, side by side."
    );
    let checked = comparison.providers.iter().filter_map(|one| one.checked_on).min();
    let findings: Vec<_> = comparison.verdict.iter().map(finding).collect();
    let picks: Vec<_> = comparison.picks.iter().map(pick).collect();
    let groups: Vec<_> =
        comparison.groups.iter().map(|one| group(one, &comparison.providers)).collect();
    let contents: Vec<_> = comparison
        .groups
        .iter()
        .map(|group| view! { <li><a href=format!("#{}", group.key)>{group.title}</a></li> })
        .collect();
    let nothing = comparison
        .groups
        .is_empty()
        .then(|| view! { <p>"No row is left under these filters."</p> });
    view! {
        {head(title.clone(), description)}
        <h1>{title}</h1>
        <p class="status-line">{checked.map(|day| format!("Data last checked {day}."))} " Prices of " {on.to_string()} ", US dollars."</p>
        {notice(&errors)}
        <section class="verdict" aria-labelledby="verdict-title">
            <h2 id="verdict-title">"What decides"</h2>
            <ol>{findings}</ol>
        </section>
        <section class="picks" aria-labelledby="picks-title">
            <h2 id="picks-title">"Pick this if you need …"</h2>
            <dl>{picks}</dl>
        </section>
        {picker(catalog, &comparison.providers)}
        <p class="actions"><a class="button quiet" href=reckoned("/calculator/workload", &comparison.providers)>"Your own workload at these"</a> " "
        <a class="button quiet" href=reckoned("/calculator", &comparison.providers)>"A runaway at these"</a></p>
        {filters(address, differences, undisputed)}
        <p class="muted">"A cell is marked best only where every figure of its row is exact and stands on the same basis. "
        <a href="/methodology">"How all of this is made"</a>"."</p>
        {nothing}
        <nav class="contents" aria-label="On this page"><ul>{contents}</ul></nav>
        {groups}
        {oldest(comparison.providers.iter().copied())}
        {is_read.then(|| twins(address))}
    }
    .into_any()
}

/// A calculator for those that are compared, on the workload that the comparison shows.
fn reckoned(page: &str, providers: &[&Provider]) -> String {
    let Workload { shape, runs_per_day, seconds_per_run, peak_concurrency, .. } =
        Workload::default();
    let Shape { vcpu, memory_gib, disk_gib } = shape;
    let slugs: Vec<&str> = providers.iter().map(|one| one.slug.as_str()).collect();
    dated(&format!(
        "{page}?providers={}&vcpu={vcpu}&memory_gib={memory_gib}&disk_gib={disk_gib}&runs_per_day={runs_per_day}\
         &seconds_per_run={seconds_per_run}&peak_concurrency={peak_concurrency}",
        slugs.join(",")
    ))
}

/// A form that chooses others to compare: every provider is a box.
fn picker(catalog: &Catalog, chosen: &[&Provider]) -> AnyView {
    let boxes: Vec<_> = catalog
        .providers()
        .iter()
        .map(|provider| {
            let id = format!("p-{}", provider.slug);
            let slug = provider.slug.to_string();
            view! {
                <span class="choice"><input type="checkbox" id=id.clone() name="p" value=slug checked=names(chosen, provider)/>
                <label for=id>{provider.name.clone()}</label></span>
            }
        })
        .collect();
    view! {
        <details class="picker">
            <summary>"Compare others"</summary>
            <form class="form" method="get" action="/compare">
                {hidden_day()}
                <fieldset class="field"><legend>"Two to five providers"</legend>{boxes}</fieldset>
                <p class="field"><button type="submit">"Compare the chosen"</button></p>
            </form>
        </details>
    }
    .into_any()
}

fn finding(finding: &Finding) -> AnyView {
    let parts: Vec<_> = finding
        .parts
        .iter()
        .map(|(name, words)| {
            let name = name.clone().map(|name| view! { <b>{name} ": "</b> });
            view! { <p>{name} {words.clone()}</p> }
        })
        .collect();
    view! { <li><h3>{finding.title.clone()}</h3>{parts}</li> }.into_any()
}

fn pick(pick: &Pick) -> AnyView {
    view! { <div><dt>{pick.need}</dt><dd>{pick.names.join(", ")}</dd></div> }.into_any()
}

fn filters(address: &str, differences: bool, undisputed: bool) -> AnyView {
    view! {
        <form class="form filters" method="get" action=address.to_owned()>
            {hidden_day()}
            <p class="choice"><input type="checkbox" id="only_differences" name="only_differences" value="1" checked=differences/>
            <label for="only_differences">"Only differences"</label></p>
            <p class="choice"><input type="checkbox" id="only_undisputed" name="only_undisputed" value="1" checked=undisputed/>
            <label for="only_undisputed">"Only undisputed"</label></p>
            <p class="field"><button type="submit">"Apply"</button></p>
        </form>
    }
    .into_any()
}

fn group(group: &Group<'_>, providers: &[&Provider]) -> AnyView {
    let columns: Vec<_> = providers
        .iter()
        .map(|provider| view! { <th role="columnheader" scope="col">{named(provider)}</th> })
        .collect();
    let rows: Vec<_> = group.rows.iter().map(|one| row(one, providers)).collect();
    let remark = group.remark.clone().map(|remark| view! { <p class="remark">{remark}</p> });
    view! {
        <section id=group.key class="block">
            <h2>{group.title}</h2>
            {remark}
            <table role="table" class="comparison-table cards">
                <caption class="visually-hidden">{group.title}</caption>
                <thead role="rowgroup"><tr role="row">
                    <th role="columnheader" scope="col"><span class="visually-hidden">"Question"</span></th>{columns}
                </tr></thead>
                <tbody role="rowgroup">{rows}</tbody>
            </table>
        </section>
    }
    .into_any()
}

fn row(row: &Row<'_>, providers: &[&Provider]) -> AnyView {
    let cells: Vec<_> = row
        .cells
        .iter()
        .zip(providers)
        .enumerate()
        .map(|(place, (one, provider))| {
            let is_best = row.best == Some(place);
            let best = is_best.then(|| view! { <span class="best">"best"</span> });
            view! {
                <td role="cell" class:is-best=is_best data-label=provider.name.clone()>{cell(one, Detail::Short, &provider.slug)} {best}</td>
            }
        })
        .collect();
    view! { <tr role="row"><th role="rowheader" scope="row">{row.label.clone()}</th>{cells}</tr> }
        .into_any()
}
