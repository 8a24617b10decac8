//! The calculator of runaways: a form, and the figures for it, anew with every key. Without scripts the form asks the
//! server, which renders this very component.
//!
//! The figures are written as text by `maud`: as views of Leptos they would make the browser half half as large again.

use leptos::prelude::*;
use maud::{Markup, html};

use super::form::{Besides, Field, Fields, Typed, hidden, inputs, keep_address, price_choice};
use crate::calculator::exposure::{Backstop, Exposed, Exposure, Line, expose};
use crate::calculator::input::exposure;
use crate::calculator::offer::{Offer, Offers, PlanOffer};
use crate::calculator::packed::Packed;
use crate::catalog::shape::Estimate;
use crate::catalog::word::capitalised;
use crate::money::{MoneyError, Quantity, Usd, count};
use crate::picture::{CURVE_HEIGHT, CURVE_WIDTH, Rise, SCALE_HEIGHT, curve};

/// The fields of the form.
pub const FIELDS: Fields = &[
    Field::new("vcpu", "vCPU", "1", "of each sandbox"),
    Field::new("memory_gib", "Memory, GiB", "2", "of each sandbox"),
    Field::new("disk_gib", "Disk, GiB", "0", "of each sandbox"),
    Field::new("runaways", "Runaways", "1", "at once").slid(1, 100, 1),
    Field::new("noticed_after_seconds", "Noticed after, s", "3600", "until somebody stops them")
        .slid(300, 86_400, 300),
    Field::new("timeout_seconds", "Timeout, s", "60", "per run, or none").slid(5, 3_600, 5),
    Field::new("attempts", "Attempts", "1", "per task: retries multiply").slid(1, 10, 1),
];

/// What came out for one provider.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Reckoned {
    offer: Offer,
    plan: Option<PlanOffer>,
    exposed: Result<Exposed, MoneyError>,
}

/// Form and figures.
#[island]
pub fn Calculator(
    /// Who is reckoned with.
    offers: Packed,
    /// What the form holds at first.
    typed: Typed,
    /// Plans that the address names, by provider.
    plans: Vec<(String, String)>,
    /// What the address says besides.
    besides: Besides,
    /// Everybody who can be chosen: slug, name, and whether they are.
    choice: Vec<(String, String, bool)>,
) -> impl IntoView {
    let typed = RwSignal::new(typed);
    let errors = Memo::new(move |_| typed.with(|typed| typed.read(FIELDS, exposure).1));
    let boxes: Vec<_> = choice
        .into_iter()
        .map(|(slug, name, chosen)| {
            let id = format!("providers-{slug}");
            view! {
                <span class="choice"><input type="checkbox" id=id.clone() name="providers" value=slug checked=chosen/>
                <label for=id>{name}</label></span>
            }
        })
        .collect();
    // The boxes send the providers themselves.
    let own: Besides = besides.iter().filter(|(name, _)| name != "providers").cloned().collect();
    keep_address(typed, errors, FIELDS, besides);
    let reckoned = Memo::new(move |_| typed.with(|typed| reckon(&offers.0, &plans, typed)));
    view! {
        <form class="form calculator" method="get" action="/calculator">
            {inputs(FIELDS, typed, errors)}
            {price_choice(typed)}
            {hidden(&own)}
            <details class="field"><summary>"Providers"</summary>
                <fieldset><legend class="visually-hidden">"Providers"</legend>{boxes}</fieldset></details>
            <p class="field"><button type="submit">"Calculate"</button></p>
        </form>
        <p class="visually-hidden" aria-live="polite">{move || reckoned.with(|reckoned| told(reckoned))}</p>
        <div class="figures" inner_html=move || reckoned.with(|reckoned| figures(reckoned, &typed.get()))></div>
    }
}

/// Reckons with what is typed; what is wrong takes its default, which the fields say.
fn reckon(offers: &[Offers], plans: &[(String, String)], typed: &Typed) -> Vec<Reckoned> {
    let (ask, _) = typed.read(FIELDS, exposure);
    let reckoned = |one: &Offers| {
        let offer = one.at(typed.price);
        let plan = offer.plan_for(plans, &ask.shape, ask.runaways).cloned();
        let exposed = expose(&offer, plan.as_ref(), &ask);
        Reckoned { offer, plan, exposed }
    };
    offers.iter().map(reckoned).collect()
}

/// What a screen reader is told when the figures change.
fn told(reckoned: &[Reckoned]) -> String {
    let until = reckoned.iter().filter_map(|one| {
        let until = one.exposed.as_ref().ok()?.whole_until_noticed.shown();
        Some(format!("{}: {until} until noticed.", one.offer.name))
    });
    until.collect::<Vec<_>>().join(" ")
}

fn figures(reckoned: &[Reckoned], typed: &Typed) -> String {
    let (ask, errors) = typed.read(FIELDS, exposure);
    let markup = html! {
        @if !errors.is_empty() { p.notice { "Defaults stand in for what cannot be read." } }
        div.figure-tables {
            @for one in reckoned {
                @match &one.exposed {
                    Ok(exposed) => (table(&one.offer, one.plan.as_ref(), exposed, &ask)),
                    Err(error) => { p.notice { (one.offer.name) ": the product " (error.to_string()) } }
                }
            }
        }
    };
    markup.into_string()
}

fn table(offer: &Offer, plan: Option<&PlanOffer>, exposed: &Exposed, ask: &Exposure) -> Markup {
    let because = exposed.whole_until_noticed.because.join("; ");
    let verb = if exposed.whole_until_noticed.usd.is_some() { "depends" } else { "has no price" };
    let region = format!("Figures of {}", offer.name);
    html! {
        section.figure-table {
            h2 { (offer.name) " " small.muted { (offer.card.variant) ", " (offer.card.kind.label()) } }
            (hurts(plan, exposed, ask))
            @if let Some((shape, hour)) = &exposed.nearest_sold {
                p.notice { "The nearest size that is sold: " (shape.label()) ", " (hour.shown()) " an hour." }
            }
            @if let Some(shape) = exposed.whole_rates[1].sold_as {
                p.remark { "Sold as " (shape.label()) "." }
            }
            div.table-region role="region" aria-label=(region) tabindex="0" {
                table {
                    caption.visually-hidden { (offer.name) ", US dollars" }
                    thead { tr {
                        th scope="col" { "US dollars" }
                        th.number scope="col" { "CPU only" }
                        th.number scope="col" { "Whole bill" }
                    } }
                    tbody { @for one in exposed.lines() { (line(&one)) } }
                    tbody {
                        tr { th.subhead scope="rowgroup" colspan="3" {
                            "What the platform does by itself, and the cost by then"
                        } }
                        @for (place, stop) in exposed.backstops.iter().enumerate() {
                            (backstop(place, stop))
                        }
                    }
                }
            }
            @if exposed.cpu_until_noticed.usd.is_none() {
                p.remark { "CPU only: " (exposed.cpu_until_noticed.because.join("; ")) "." }
            }
            @for other in &exposed.other_variants {
                p.remark {
                    (other.label) " (" (other.asked_by) "): " (other.hour.shown())
                    @if !other.hour.because.is_empty() { ", " (other.hour.because.join("; ")) }
                    "."
                }
            }
            @if !because.is_empty() { p.remark { "The whole bill " (verb) ": " (because) "." } }
            @if let Some(drawing) = drawing(exposed, ask) { (drawing) }
        }
    }
}

/// What really hurts, which is not money.
fn hurts(plan: Option<&PlanOffer>, exposed: &Exposed, ask: &Exposure) -> Markup {
    let slots = match (plan, exposed.capacity) {
        (Some(plan), Some((most, cap))) => {
            format!("{} of {} ({cap}, {})", count(exposed.runaways_held), count(most), plan.name)
        }
        (Some(plan), None) => format!("{}; {} names no limit", count(ask.runaways), plan.name),
        (None, _) => format!("{}; no plan is known", count(ask.runaways)),
    };
    let left = ask.runaways.saturating_sub(exposed.runaways_held);
    html! {
        dl.hurts {
            div {
                dt { "Agent-hours blocked" }
                dd {
                    (exposed.agent_hours_blocked.to_string())
                    @if let Some(seconds) = exposed.agent_seconds_with_timeout {
                        small.muted { ", with the timeout " (seconds.duration()) }
                    }
                }
            }
            div {
                dt { "Slots taken" }
                dd { (slots) @if left > 0 { ", " (count(left)) " do not even start" } }
            }
            div {
                dt { "Sandboxes started, retries included" }
                dd { (count(exposed.runs_with_retries)) }
            }
        }
    }
}

fn line(line: &Line<'_>) -> Markup {
    let shown = |figure: Option<&Estimate>| figure.map_or(line.none().to_owned(), Estimate::shown);
    let class = matches!(line.key, "hour" | "day").then_some("headline");
    html! {
        tr class=[class] {
            th scope="row" { (line.label) }
            td.number { (shown(line.cpu)) }
            td.number { (shown(line.whole)) }
        }
    }
}

fn backstop(place: usize, stop: &Backstop) -> Markup {
    let cpu = stop.cpu_usd.map_or_else(|| "–".to_owned(), Usd::shown);
    let whole = stop.whole.as_ref().map_or_else(|| "–".to_owned(), Estimate::shown);
    let day = stop.as_of.as_deref().unwrap_or_default();
    html! {
        tr {
            th scope="row" {
                (place + 1) ". " (capitalised(stop.kind.label())) ": " (stop.when()) " "
                @match stop.source.as_deref() {
                    Some(url) if url.starts_with("http") => {
                        a.source rel="noopener" href=(url) title=(url) { (day) }
                    }
                    Some(title) => { span.source title=(title) { (day) } }
                    None => {}
                }
            }
            td.number { (cpu) }
            td.number { (whole) }
        }
    }
}

/// The whole bill over time. Every figure of it stands in the table above.
fn drawing(exposed: &Exposed, ask: &Exposure) -> Option<Markup> {
    let until = exposed.whole_until_noticed.usd.filter(|usd| !usd.is_zero())?;
    let noticed = ask.noticed_after_seconds;
    let timeout = ask.timeout_seconds.map(|seconds| seconds.min(noticed));
    // A session that the plan ends first costs no more after that.
    let session = exposed.backstops[2].seconds().map_or(noticed, Quantity::whole);
    let rises = timeout.map(|seconds| seconds.min(session));
    let with = exposed.whole_with_timeout.as_ref().and_then(|with| with.usd).zip(rises);
    let with =
        with.map(|(usd, seconds)| Rise { usd, seconds: seconds.saturating_mul(ask.attempts) });
    let mut marks: Vec<(String, u64)> = Vec::new();
    marks.extend(timeout.filter(|one| *one < noticed).map(|one| ("timeout".to_owned(), one)));
    for (place, stop) in exposed.backstops.iter().enumerate() {
        marks.extend(stop.seconds().map(|after| ((place + 1).to_string(), after.whole())));
    }
    let drawn = curve(Rise { usd: until, seconds: noticed }, with, &marks);
    let after = Quantity::from(noticed).duration();
    let said = format!(
        "Cost over time: {} after {after} if nothing stops them{}. Numbers are the stops of the table.",
        until.shown(),
        with.map_or_else(String::new, |with| format!("; {} with the timeout", with.usd.shown()))
    );
    // Labels stand at different heights, so that near ones do not cover each other; at the end they stand before.
    let label = |place: usize, x: u32| {
        let y = 20 + 22 * (place % 3);
        if x + 110 > CURVE_WIDTH { (x.saturating_sub(8), y, "end") } else { (x + 8, y, "start") }
    };
    Some(html! {
        svg.curve viewBox=(format!("0 0 {CURVE_WIDTH} {}", CURVE_HEIGHT + SCALE_HEIGHT)) role="img" aria-label=(said) {
            (scale(until, noticed))
            @for (place, (name, x)) in drawn.marks.iter().enumerate() {
                line x1=(x) x2=(x) y1="0" y2=(CURVE_HEIGHT) {}
                @let (at, y, anchor) = label(place, *x);
                text x=(at) y=(y) text-anchor=(anchor) { (name) }
            }
            path.without d=(drawn.without) {}
            @if let Some(path) = drawn.with { path.with d=(path) {} }
        }
        p.remark {
            "Whole bill from now until noticed after " (after)
            @if with.is_some() { "; dashed with the timeout" }
            ". Numbers are the stops of the table."
        }
    })
}

/// What lies where: time and amount along the foot, with lines at half of both.
fn scale(most: Usd, noticed: u64) -> Markup {
    let [middle, end] = [CURVE_WIDTH / 2, CURVE_WIDTH];
    let foot = CURVE_HEIGHT + SCALE_HEIGHT - 6;
    let at = |part: u32| {
        let time = Quantity::from(noticed).divided_by(part).duration();
        format!("{time}: {}", most.divided(part).brief())
    };
    html! {
        path.scale d=(format!("M0 {CURVE_HEIGHT}H{end}M0 {}H{end}M{middle} 0V{CURVE_HEIGHT}", CURVE_HEIGHT / 2)) {}
        text x="0" y=(foot) { "now" }
        text x=(middle) y=(foot) text-anchor="middle" { (at(2)) }
        text x=(end) y=(foot) text-anchor="end" { (at(1)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_begins_with_the_first_look() {
        let typed = Typed::of(FIELDS, |_| None);
        let (ask, errors) = typed.read(FIELDS, exposure);
        assert_eq!(ask, Exposure::default());
        assert!(errors.is_empty());
    }
}
