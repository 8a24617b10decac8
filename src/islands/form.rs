//! The form of a calculator: fields of text, a price kind, and what the address says besides. With scripts the address
//! follows what is typed; without them the form asks the server.

use std::time::Duration;

use leptos::prelude::*;
use leptos::wasm_bindgen::{JsCast, JsValue};
use serde::{Deserialize, Serialize};
use web_sys::{Element, UrlSearchParams};

use crate::calculator::input::Input;
use crate::catalog::word::PriceKind;

/// How long nothing is typed before the address follows: browsers count how often it is set.
const ADDRESS_PAUSE: Duration = Duration::from_millis(200);

/// A field of a form.
pub struct Field {
    /// Its name in the query.
    pub name: &'static str,
    /// Its label, unit included.
    pub label: &'static str,
    /// What it holds if nothing is typed.
    pub default: &'static str,
    /// What has to be known of it.
    pub hint: &'static str,
    /// The least, the most and the step of a slider beside it, where one helps.
    pub slider: Option<[u32; 3]>,
}

impl Field {
    /// A field without a slider.
    pub const fn new(
        name: &'static str,
        label: &'static str,
        default: &'static str,
        hint: &'static str,
    ) -> Self {
        Self { name, label, default, hint, slider: None }
    }

    /// The same with a slider from a least to a most value.
    #[must_use]
    pub const fn slid(self, least: u32, most: u32, step: u32) -> Self {
        Self { slider: Some([least, most, step]), ..self }
    }
}

/// The fields of a form, in order.
pub type Fields = &'static [Field];
/// What is wrong with what is typed: the field, and what is allowed.
pub type Errors = Vec<(&'static str, String)>;
/// What the address says besides the fields, such as providers, plans and the day: names and values.
pub type Besides = Vec<(String, String)>;

/// What is typed into a form, as text: what is wrong stays there to be mended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Typed {
    /// Text by field, in the order of the form.
    pub texts: Vec<String>,
    /// List or routed; routed where there is one if nothing is chosen.
    pub price: Option<PriceKind>,
}

impl Typed {
    /// From the texts of a query; defaults for what is not there.
    pub fn of(fields: Fields, text: impl Fn(&str) -> Option<String>) -> Self {
        let default = |field: &Field| text(field.name).unwrap_or_else(|| field.default.to_owned());
        Self {
            texts: fields.iter().map(default).collect(),
            price: text("price").and_then(|word| PriceKind::parse(&word).ok()),
        }
    }

    /// Reads a question out of it, with what is wrong.
    pub fn read<T>(&self, fields: Fields, read: impl Fn(&mut Input<'_>) -> T) -> (T, Errors) {
        let text = |name: &str| self.text(fields, name);
        let mut input = Input::new(&text);
        let question = read(&mut input);
        (question, input.errors())
    }

    fn text(&self, fields: Fields, name: &str) -> Option<String> {
        let place = fields.iter().position(|field| field.name == name)?;
        self.texts.get(place).cloned()
    }

    /// As the form would send it.
    fn query(&self, fields: Fields, besides: &Besides) -> Option<String> {
        let query = UrlSearchParams::new().ok()?;
        for (field, text) in fields.iter().zip(&self.texts) {
            query.append(field.name, text);
        }
        if let Some(price) = self.price {
            query.append("price", price.word());
        }
        for (name, value) in besides {
            query.append(name, value);
        }
        Some(String::from(query.to_string()))
    }
}

/// Keeps the address in step with the form, so that it can be sent to somebody, without a request or a new entry in the
/// history; and the links to the page's twins with it. Effects run in browsers alone.
pub fn keep_address(
    typed: RwSignal<Typed>,
    errors: Memo<Errors>,
    fields: Fields,
    besides: Besides,
) {
    let write = move |query: &str| {
        if let Ok(history) = window().history() {
            // An address that cannot be set only means that there is none to send.
            let _ = history.replace_state_with_url(&JsValue::NULL, "", Some(&format!("?{query}")));
        }
        // Twins refuse what a form keeps to be mended.
        if errors.with_untracked(Vec::is_empty) {
            lead_twins_to(query);
        }
    };
    Effect::new(move |before: Option<()>| {
        let now = typed.get();
        // What was asked for first stands in the address as it came.
        if let (Some(()), Some(query)) = (before, now.query(fields, &besides)) {
            let write_if_last = move || {
                if typed.with_untracked(|last| *last == now) {
                    write(&query);
                }
            };
            set_timeout(write_if_last, ADDRESS_PAUSE);
        }
    });
}

/// Makes the links to the page's twins ask the same.
fn lead_twins_to(query: &str) {
    let Ok(links) = document().query_selector_all("a[rel=alternate]") else {
        return;
    };
    for place in 0..links.length() {
        let Some(link) = links.item(place) else { continue };
        let link: Element = link.unchecked_into();
        if let Some(href) = link.get_attribute("href") {
            let page = href.split('?').next().unwrap_or_default();
            let _ = link.set_attribute("href", &format!("{page}?{query}"));
        }
    }
}

/// What the form sends besides its fields.
pub fn hidden(besides: &Besides) -> Vec<impl IntoView + use<>> {
    besides
        .iter()
        .map(|(name, value)| {
            view! { <input type="hidden" name=name.clone() value=value.clone()/> }
        })
        .collect()
}

/// Every field with its label, its slider and what is wrong with it.
pub fn inputs(
    fields: Fields,
    typed: RwSignal<Typed>,
    errors: Memo<Errors>,
) -> Vec<impl IntoView + use<>> {
    // A slider does nothing without scripts, so it comes with them. It is for the pointer: whoever uses a keyboard or a
    // screen reader has the field beside it.
    let awake = RwSignal::new(false);
    Effect::new(move || awake.set(true));
    fields.iter().enumerate().map(|(place, one)| input(one, place, typed, errors, awake)).collect()
}

fn input(
    field: &'static Field,
    place: usize,
    typed: RwSignal<Typed>,
    errors: Memo<Errors>,
    awake: RwSignal<bool>,
) -> impl IntoView + use<> {
    let hint = format!("{}-hint", field.name);
    let wrong = move || {
        errors.with(|errors| {
            let found = errors.iter().find(|(name, _)| *name == field.name);
            found.map(|(_, message)| message.clone())
        })
    };
    let set = move |text: String| {
        typed.update(|typed| {
            if let Some(own) = typed.texts.get_mut(place) {
                *own = text;
            }
        });
    };
    let own = move || typed.with(|typed| typed.texts.get(place).cloned().unwrap_or_default());
    let slider = field.slider.map(|[least, most, step]| {
        move || {
            awake.get().then(|| {
                view! {
                    <input type="range" min=least max=most step=step aria-hidden="true" tabindex="-1" prop:value=own
                        on:input:target=move |event| set(event.target().value())/>
                }
            })
        }
    });
    view! {
        <p class="field">
            <label for=field.name>{field.label}</label>
            <input id=field.name name=field.name inputmode="decimal" autocomplete="off"
                value=untrack(own) prop:value=own
                aria-describedby=hint.clone()
                aria-invalid=move || wrong().map(|_| "true")
                on:input:target=move |event| set(event.target().value())/>
            {slider}
            <small id=hint class=move || if wrong().is_some() { "wrong" } else { "hint" }>
                {move || wrong().unwrap_or_else(|| field.hint.to_owned())}
            </small>
        </p>
    }
}

/// The choice of a price kind.
pub fn price_choice(typed: RwSignal<Typed>) -> impl IntoView + use<> {
    let kinds = [None, Some(PriceKind::List), Some(PriceKind::Routed)];
    let options: Vec<_> = kinds
        .into_iter()
        .map(|kind| {
            let label = kind.map_or("routed where there is one", PriceKind::label);
            let chosen = typed.get_untracked().price == kind;
            view! { <option value=kind.map_or("", PriceKind::word) selected=chosen>{label}</option> }
        })
        .collect();
    view! {
        <p class="field"><label for="price">"Price"</label>
        <select id="price" name="price" on:change:target=move |event| {
            let kind = PriceKind::parse(&event.target().value()).ok();
            typed.update(|typed| typed.price = kind);
        }>{options}</select></p>
    }
}
