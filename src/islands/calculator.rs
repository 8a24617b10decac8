//! The calculator of runaways: a form, and the figures for it, anew with every key. Without scripts the form asks the
//! server, which renders this very component.

use leptos::prelude::*;
use leptos::wasm_bindgen::JsValue;
use serde::{Deserialize, Serialize};
use web_sys::UrlSearchParams;

use crate::calculator::exposure::{Backstop, Exposed, Exposure, Line, expose};
use crate::calculator::input::Input;
use crate::calculator::offer::{Offer, PlanOffer};
use crate::catalog::shape::Estimate;
use crate::catalog::word::{PriceKind, capitalised};
use crate::money::{Usd, count};

/// A field of the form: its name in the query, its label, what it holds if nothing is typed, and a hint.
struct Field {
    name: &'static str,
    label: &'static str,
    default: &'static str,
    hint: &'static str,
}

const FIELDS: [Field; 7] = [
    Field { name: "vcpu", label: "vCPU", default: "1", hint: "of each sandbox" },
    Field { name: "memory_gib", label: "Memory, GiB", default: "2", hint: "of each sandbox" },
    Field { name: "disk_gib", label: "Disk, GiB", default: "0", hint: "of each sandbox" },
    Field { name: "runaways", label: "Runaways", default: "1", hint: "at once" },
    Field {
        name: "noticed_after_seconds",
        label: "Noticed after, s",
        default: "3600",
        hint: "until somebody stops them",
    },
    Field { name: "timeout_seconds", label: "Timeout, s", default: "60", hint: "per run, or none" },
    Field { name: "attempts", label: "Attempts", default: "1", hint: "per task: retries multiply" },
];

/// What is typed into the form, as text: what is wrong stays there to be mended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Typed {
    /// Text by field, in the order of the form.
    fields: Vec<String>,
    /// List or routed.
    price: PriceKind,
}

impl Typed {
    /// From the texts of a query; defaults for what is not there.
    pub fn of(text: impl Fn(&str) -> Option<String>) -> Self {
        let price = text("price").and_then(|word| PriceKind::parse(&word).ok());
        Self {
            fields: FIELDS
                .iter()
                .map(|field| text(field.name).unwrap_or_else(|| field.default.to_owned()))
                .collect(),
            price: price.unwrap_or(PriceKind::Routed),
        }
    }

    /// What is wrong with it: the field, and what is allowed.
    fn errors(&self) -> Vec<(String, String)> {
        let text = |name: &str| self.text(name);
        let mut input = Input::new(&text);
        input.exposure();
        input.errors().into_iter().map(|(name, message)| (name.to_owned(), message)).collect()
    }

    /// As the form would send it.
    fn query(&self, plans: &str) -> Option<String> {
        let query = UrlSearchParams::new().ok()?;
        for (field, text) in FIELDS.iter().zip(&self.fields) {
            query.append(field.name, text);
        }
        query.append("price", self.price.word());
        if !plans.is_empty() {
            query.append("plan", plans);
        }
        Some(String::from(query.to_string()))
    }

    fn text(&self, name: &str) -> Option<String> {
        let place = FIELDS.iter().position(|field| field.name == name)?;
        self.fields.get(place).cloned()
    }
}

/// Form and figures.
#[island]
pub fn Calculator(
    /// The offers that are reckoned with, routed and list.
    offers: Vec<Offer>,
    /// What the form holds at first.
    typed: Typed,
    /// Plans that the address names, by provider.
    plans: Vec<(String, String)>,
) -> impl IntoView {
    let typed = RwSignal::new(typed);
    let errors = Memo::new(move |_| typed.with(Typed::errors));
    let fields: Vec<_> =
        FIELDS.iter().enumerate().map(|(place, one)| field(place, one, typed, errors)).collect();
    let kinds: Vec<_> = [PriceKind::Routed, PriceKind::List]
        .into_iter()
        .map(|kind| {
            let id = format!("price-{}", kind.word());
            view! {
                <span class="choice">
                    <input type="radio" id=id.clone() name="price" value=kind.word()
                        checked=typed.get_untracked().price == kind
                        on:change=move |_| typed.update(|typed| typed.price = kind)/>
                    <label for=id>{kind.label()}</label>
                </span>
            }
        })
        .collect();
    let named = plans.iter().map(|(slug, id)| format!("{slug}:{id}")).collect::<Vec<_>>().join(",");
    keep_address(typed, named.clone());
    let named =
        (!named.is_empty()).then(|| view! { <input type="hidden" name="plan" value=named/> });
    view! {
        <form class="form calculator" method="get" action="/calculator">
            {fields}
            <fieldset class="field"><legend>"Price"</legend>{kinds}</fieldset>
            {named}
            <p class="field"><button type="submit">"Calculate"</button></p>
        </form>
        <div class="figures" aria-live="polite">{move || figures(&offers, &plans, &typed.get())}</div>
    }
}

/// Keeps the address in step with the form, so that it can be sent to somebody, without a request or a new entry in the
/// history. Effects run in browsers alone.
fn keep_address(typed: RwSignal<Typed>, plans: String) {
    Effect::new(move |before: Option<()>| {
        let query = typed.with(|typed| typed.query(&plans));
        // What was asked for first stands in the address as it came.
        if let (Some(()), Some(query)) = (before, query)
            && let Ok(history) = window().history()
        {
            // An address that cannot be set only means that there is none to send.
            let _ = history.replace_state_with_url(&JsValue::NULL, "", Some(&format!("?{query}")));
        }
    });
}

fn field(
    place: usize,
    field: &'static Field,
    typed: RwSignal<Typed>,
    errors: Memo<Vec<(String, String)>>,
) -> impl IntoView {
    let hint = format!("{}-hint", field.name);
    let wrong = move || {
        errors.with(|errors| {
            let found = errors.iter().find(|(name, _)| name == field.name);
            found.map(|(_, message)| message.clone())
        })
    };
    view! {
        <p class="field">
            <label for=field.name>{field.label}</label>
            <input id=field.name name=field.name inputmode="decimal" autocomplete="off"
                value=typed.with_untracked(|typed| typed.text(field.name))
                aria-describedby=hint.clone()
                aria-invalid=move || wrong().map(|_| "true")
                on:input:target=move |event| {
                    typed.update(|typed| {
                        if let Some(text) = typed.fields.get_mut(place) {
                            *text = event.target().value();
                        }
                    });
                }/>
            <small id=hint class=move || if wrong().is_some() { "wrong" } else { "hint" }>
                {move || wrong().unwrap_or_else(|| field.hint.to_owned())}
            </small>
        </p>
    }
}

/// The figures for what is typed; what is wrong takes its default, which the fields say.
fn figures(offers: &[Offer], plans: &[(String, String)], typed: &Typed) -> AnyView {
    let text = |name: &str| typed.text(name);
    let mut input = Input::new(&text);
    let ask = input.exposure();
    let assumed = (!input.errors().is_empty()).then(|| {
        view! { <p class="notice">"Defaults stand in for what cannot be read."</p> }
    });
    let tables: Vec<_> = offers
        .iter()
        .filter(|offer| offer.card.kind == typed.price)
        .map(|offer| {
            let plan = offer.plan_for(plans, &ask.shape, ask.runaways);
            match expose(offer, plan, &ask) {
                Ok(exposed) => table(offer, plan, &exposed, &ask),
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
    let backstops: Vec<_> = exposed.backstops.iter().map(backstop).collect();
    let because: Vec<String> = exposed.whole_until_noticed.because.clone();
    let verb = if exposed.whole_until_noticed.usd.is_some() { "depends" } else { "has no price" };
    let because = (!because.is_empty()).then(
        || view! { <p class="remark">"The whole bill " {verb} ": " {because.join("; ")} "."</p> },
    );
    let held = match (plan, exposed.capacity) {
        (Some(plan), Some((most, cap))) if most < ask.runaways => format!(
            "{} holds {} of the {} at once ({cap}): what the platform does by itself is counted for those alone.",
            plan.name,
            count(most),
            count(ask.runaways)
        ),
        (Some(plan), Some((most, cap))) => {
            format!("{} holds {} at once ({cap}).", plan.name, count(most))
        }
        (Some(plan), None) => format!("{} publishes no number that it holds at once.", plan.name),
        (None, _) => "No plan is known, so nothing is known to cap them.".to_owned(),
    };
    let hours = exposed.agent_hours_blocked.to_string();
    let hours = if hours == "1" { "1 hour".to_owned() } else { format!("{hours} hours") };
    let region = format!("Figures of {}", offer.name);
    view! {
        <section class="figure-table">
            <div class="table-region" role="region" aria-label=region tabindex="0">
            <table>
                <caption>{offer.name.clone()} ", " {offer.card.variant.clone()} ", " {offer.card.kind.label()} ", US dollars"</caption>
                <thead><tr><td></td><th scope="col" class="number">"CPU only"</th><th scope="col" class="number">"Whole bill"</th></tr></thead>
                <tbody>
                    {lines}
                </tbody>
                <tbody>
                    <tr><th scope="rowgroup" colspan="3" class="subhead">"What the platform does by itself, and the cost by then"</th></tr>
                    {backstops}
                </tbody>
            </table>
            </div>
            {because}
            <p>{held} " Agents stand still for " {hours} " in all until somebody notices."</p>
        </section>
    }
    .into_any()
}

fn line(line: &Line<'_>) -> impl IntoView + use<> {
    let shown = |figure: Option<&Estimate>| figure.map_or("no timeout".to_owned(), Estimate::shown);
    let class = if matches!(line.key, "hour" | "day") { "headline" } else { "" };
    let (cpu, whole) = (shown(line.cpu), shown(line.whole));
    view! { <tr class=class><th scope="row">{line.label}</th><td class="number">{cpu}</td><td class="number">{whole}</td></tr> }
}

fn backstop(backstop: &Backstop) -> impl IntoView {
    let when = backstop.when();
    let cpu = backstop.cpu_usd.map_or_else(|| "–".to_owned(), Usd::shown);
    let whole = backstop.whole.as_ref().map_or_else(|| "–".to_owned(), Estimate::shown);
    let label = capitalised(backstop.kind.label());
    view! {
        <tr><th scope="row">{label} ": " {when}</th><td class="number">{cpu}</td><td class="number">{whole}</td></tr>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_begins_with_the_first_look() {
        let typed = Typed::of(|_| None);
        let text = |name: &str| typed.text(name);
        let mut input = Input::new(&text);
        assert_eq!(input.exposure(), crate::calculator::exposure::Exposure::default());
        assert!(input.errors().is_empty());
    }
}
