//! The calculator of runaways: a form, and the figures for it, anew with every key. Without scripts the form asks the
//! server, which renders this very component.

use leptos::prelude::*;

use super::form::{Besides, Field, Fields, Typed, hidden, inputs, keep_address, price_choice};
use crate::calculator::exposure::{Backstop, Exposed, Exposure, Line, expose};
use crate::calculator::input::Input;
use crate::calculator::offer::{Offer, Offers, PlanOffer};
use crate::catalog::shape::Estimate;
use crate::catalog::word::{PriceKind, capitalised};
use crate::money::{Quantity, Usd, count};
use crate::picture::{CURVE_HEIGHT, Rise, WIDTH, curve};

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

/// The question that is typed.
fn question(input: &mut Input<'_>) -> Exposure {
    input.exposure()
}

/// Form and figures.
#[island]
pub fn Calculator(
    /// Who is reckoned with.
    offers: Vec<Offers>,
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
    let errors = Memo::new(move |_| typed.with(|typed| typed.read(FIELDS, question).1));
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
    let (own, rest): (Besides, Besides) =
        besides.iter().cloned().partition(|(name, _)| name != "providers");
    drop(rest);
    keep_address(typed, FIELDS, besides);
    view! {
        <form class="form calculator" method="get" action="/calculator">
            {inputs(FIELDS, typed, errors)}
            {price_choice(typed)}
            {hidden(&own)}
            <details class="field"><summary>"Providers"</summary>
                <fieldset><legend class="visually-hidden">"Providers"</legend>{boxes}</fieldset></details>
            <p class="field"><button type="submit">"Calculate"</button></p>
        </form>
        <div class="figures" aria-live="polite">{move || figures(&offers, &plans, &typed.get())}</div>
    }
}

/// The figures for what is typed; what is wrong takes its default, which the fields say.
fn figures(offers: &[Offers], plans: &[(String, String)], typed: &Typed) -> AnyView {
    let (ask, errors) = typed.read(FIELDS, question);
    let assumed = (!errors.is_empty()).then(|| {
        view! { <p class="notice">"Defaults stand in for what cannot be read."</p> }
    });
    let tables: Vec<_> = offers
        .iter()
        .map(|one| {
            let offer = match typed.price {
                Some(kind) => one.at(kind).unwrap_or_else(|| one.unreached()),
                None => one.at(PriceKind::Routed).unwrap_or_else(|| one.list.clone()),
            };
            let plan = offer.plan_for(plans, &ask.shape, ask.runaways);
            match expose(&offer, plan, &ask) {
                Ok(exposed) => table(&offer, plan, &exposed, &ask),
                Err(error) => {
                    view! { <p class="notice">{offer.name.clone()} ": the product " {error.to_string()}</p> }.into_any()
                }
            }
        })
        .collect();
    view! { {assumed} <div class="figure-tables">{tables}</div> }.into_any()
}

fn table(offer: &Offer, plan: Option<&PlanOffer>, exposed: &Exposed, ask: &Exposure) -> AnyView {
    let lines: Vec<_> = exposed.lines().iter().map(line).collect();
    let backstops: Vec<_> =
        exposed.backstops.iter().enumerate().map(|(place, stop)| backstop(place, stop)).collect();
    let because: Vec<String> = exposed.whole_until_noticed.because.clone();
    let verb = if exposed.whole_until_noticed.usd.is_some() { "depends" } else { "has no price" };
    let because = (!because.is_empty()).then(
        || view! { <p class="remark">"The whole bill " {verb} ": " {because.join("; ")} "."</p> },
    );
    let nearest = exposed.nearest_sold.as_ref().map(|(shape, hour)| {
        let words =
            format!("The nearest size that is sold: {}, {} an hour.", shape.label(), hour.shown());
        view! { <p class="notice">{words}</p> }
    });
    let sold = exposed.whole_rates[1].sold_as.map(|shape| {
        view! { <p class="remark">"Sold as " {shape.label()} "."</p> }
    });
    let region = format!("Figures of {}", offer.name);
    view! {
        <section class="figure-table">
            <h2>{offer.name.clone()} " " <small class="muted">{offer.card.variant.clone()} ", " {offer.card.kind.label()}</small></h2>
            {hurts(plan, exposed, ask)}
            {nearest}{sold}
            <div class="table-region" role="region" aria-label=region tabindex="0">
            <table>
                <caption class="visually-hidden">{offer.name.clone()} ", US dollars"</caption>
                <thead><tr><th scope="col">"US dollars"</th><th scope="col" class="number">"CPU only"</th><th scope="col" class="number">"Whole bill"</th></tr></thead>
                <tbody>{lines}</tbody>
                <tbody>
                    <tr><th scope="rowgroup" colspan="3" class="subhead">"What the platform does by itself, and the cost by then"</th></tr>
                    {backstops}
                </tbody>
            </table>
            </div>
            {because}
            {drawing(exposed, ask)}
        </section>
    }
    .into_any()
}

/// What really hurts, which is not money.
fn hurts(plan: Option<&PlanOffer>, exposed: &Exposed, ask: &Exposure) -> AnyView {
    let slots = match (plan, exposed.capacity) {
        (Some(plan), Some((most, cap))) => {
            format!("{} of {} ({cap}, {})", count(exposed.runaways_held), count(most), plan.name)
        }
        (Some(plan), None) => format!("{}; {} names no limit", count(ask.runaways), plan.name),
        (None, _) => format!("{}; no plan is known", count(ask.runaways)),
    };
    let left = ask.runaways.saturating_sub(exposed.runaways_held);
    let left = (left > 0).then(|| format!(", {} do not even start", count(left)));
    view! {
        <dl class="hurts">
            <div><dt>"Agent-hours blocked"</dt><dd>{exposed.agent_hours_blocked.to_string()}</dd></div>
            <div><dt>"Slots taken"</dt><dd>{slots}{left}</dd></div>
            <div><dt>"Sandboxes started, retries included"</dt><dd>{count(exposed.runs_with_retries)}</dd></div>
        </dl>
    }
    .into_any()
}

fn line(line: &Line<'_>) -> impl IntoView + use<> {
    let shown = |figure: Option<&Estimate>| figure.map_or("no timeout".to_owned(), Estimate::shown);
    let class = if matches!(line.key, "hour" | "day") { "headline" } else { "" };
    let (cpu, whole) = (shown(line.cpu), shown(line.whole));
    view! { <tr class=class><th scope="row">{line.label}</th><td class="number">{cpu}</td><td class="number">{whole}</td></tr> }
}

fn backstop(place: usize, backstop: &Backstop) -> impl IntoView + use<> {
    let cpu = backstop.cpu_usd.map_or_else(|| "–".to_owned(), Usd::shown);
    let whole = backstop.whole.as_ref().map_or_else(|| "–".to_owned(), Estimate::shown);
    let label =
        format!("{}. {}: {}", place + 1, capitalised(backstop.kind.label()), backstop.when());
    let day = backstop.as_of.clone().unwrap_or_default();
    let source = backstop.source.clone().map(|source| {
        if source.starts_with("http") {
            view! { " " <a class="source" rel="noopener" href=source.clone() title=source>{day}</a> }.into_any()
        } else {
            view! { " " <span class="source" title=source>{day}</span> }.into_any()
        }
    });
    view! {
        <tr><th scope="row">{label} {source}</th><td class="number">{cpu}</td><td class="number">{whole}</td></tr>
    }
}

/// The whole bill over time. Every figure of it stands in the table above.
fn drawing(exposed: &Exposed, ask: &Exposure) -> Option<AnyView> {
    let until = exposed.whole_until_noticed.usd.filter(|usd| !usd.is_zero())?;
    let noticed = ask.noticed_after_seconds;
    let timeout = ask.timeout_seconds.map(|seconds| seconds.min(noticed));
    let with = exposed.whole_with_timeout.as_ref().and_then(|with| with.usd).zip(timeout);
    let with =
        with.map(|(usd, seconds)| Rise { usd, seconds: seconds.saturating_mul(ask.attempts) });
    let mut marks: Vec<(String, u64)> = Vec::new();
    marks.extend(timeout.filter(|one| *one < noticed).map(|one| ("timeout".to_owned(), one)));
    for (place, stop) in exposed.backstops.iter().enumerate() {
        marks.extend(stop.seconds().map(|after| ((place + 1).to_string(), after.whole())));
    }
    let drawn = curve(Rise { usd: until, seconds: noticed }, with, &marks);
    let lines: Vec<_> = drawn
        .marks
        .iter()
        .enumerate()
        .map(|(place, (name, x))| {
            // Labels stand at different heights, so that near ones do not cover each other.
            let y = 16 + 18 * (place % 3);
            let near_end = *x > WIDTH - 100;
            let (tx, anchor) = if near_end { (*x - 6, "end") } else { (*x + 6, "start") };
            view! {
                <line x1=*x x2=*x y1="0" y2=CURVE_HEIGHT></line>
                <text x=tx y=y text-anchor=anchor>{name.clone()}</text>
            }
        })
        .collect();
    let after = Quantity::from(noticed).duration();
    let said = format!(
        "Cost over time: {} after {after} if nothing stops them{}. Numbers are the stops of the table.",
        until.shown(),
        with.map_or_else(String::new, |with| format!("; {} with the timeout", with.usd.shown()))
    );
    let with = drawn.with.map(|path| view! { <path class="with" d=path></path> });
    let view = view! {
        <svg class="curve" viewBox=format!("0 0 {WIDTH} {CURVE_HEIGHT}") role="img" aria-label=said>
            {lines}
            <path class="without" d=drawn.without></path>
            {with}
        </svg>
        <p class="remark">"Whole bill from now until noticed after " {after} "; dashed with the timeout."</p>
    };
    Some(view.into_any())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_begins_with_the_first_look() {
        let typed = Typed::of(FIELDS, |_| None);
        let (ask, errors) = typed.read(FIELDS, question);
        assert_eq!(ask, Exposure::default());
        assert!(errors.is_empty());
    }
}
