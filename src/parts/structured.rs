//! What a page says to programs that read schema.org: the catalog as a data set, a provider as a
//! service with the list prices that stand for themselves.
//!
//! Not here: the JSON API. This is a summary for crawlers and links there.

use jiff::civil::Date;
use leptos::prelude::*;
use serde_json::{Value, json};

use crate::catalog::Provider;
use crate::catalog::claim::State;
use crate::catalog::price::Price;
use crate::catalog::store::Revision;
use crate::catalog::word::{Basis, Beginning, PriceKind};
use crate::form::Form;
use crate::state::Site;

/// The licence of the data.
const LICENCE: &str = "https://creativecommons.org/licenses/by/4.0/";
/// The vocabulary.
const CONTEXT: &str = "https://schema.org";
/// A block of data in a page. Browsers run nothing of it, so the security policy lets it be.
pub fn structured(data: &Value) -> AnyView {
    view! { <script type="application/ld+json" inner_html=inert(data)></script> }.into_any()
}

/// JSON that cannot end the element round it, whatever stands in its strings.
fn inert(data: &Value) -> String {
    data.to_string().replace('<', "\\u003c")
}

/// The catalog as a data set.
pub fn dataset(site: &Site, revision: &Revision, description: &str) -> Value {
    let files = Form::ALL.map(|form| {
        json!({
            "@type": "DataDownload",
            "encodingFormat": form.media_type(),
            "contentUrl": site.absolute(&format!("/catalog.{}", form.word())),
        })
    });
    json!({
        "@context": CONTEXT,
        "@type": "Dataset",
        "name": "Code sandboxes for AI agents",
        "description": description,
        "url": site.absolute("/"),
        "license": LICENCE,
        "version": revision.name(),
        "dateModified": revision.published_at,
        "creator": { "@type": "Organization", "name": "Thud", "url": site.absolute("/") },
        "isAccessibleForFree": true,
        "distribution": files,
    })
}

/// A provider as a service, with the list prices of a day.
pub fn service(site: &Site, provider: &Provider, on: Date) -> Value {
    let offers: Vec<Value> = provider
        .prices_on(PriceKind::List, on)
        .filter(|price| is_plain(provider, price))
        .map(offer)
        .collect();
    let mut service = json!({
        "@context": CONTEXT,
        "@type": "Service",
        "name": provider.name,
        "description": provider.summary,
        "serviceType": "Code sandbox",
        "mainEntityOfPage": site.absolute(&format!("/sandboxes/{}", provider.slug)),
    });
    let homepage = &provider.identity.homepage_url;
    if let (State::Known, Some(address)) = (homepage.state(), homepage.value()) {
        service["url"] = json!(address.0);
    }
    if !offers.is_empty() {
        service["offers"] = json!(offers);
    }
    service
}

/// Whether a price is one that a plain create call is billed by, and nobody disputes. What is
/// included in another price has none of its own.
fn is_plain(provider: &Provider, price: &Price) -> bool {
    let is_included = price.included.as_ref().is_some_and(|included| !included.priced_beyond);
    price.is_for(&provider.default_variant().id)
        && price.basis != Basis::Bundled
        && !is_included
        && provider.price_dispute(&price.id).is_none()
}

fn offer(price: &Price) -> Value {
    let size = price.preset.map(|preset| {
        let disk = preset.disk_gib.map_or_else(String::new, |disk| format!(", {disk} GiB disk"));
        format!(": {} vCPU, {} GiB{disk}", preset.vcpu, preset.memory_gib)
    });
    let mut terms = vec![format!("billed by: {}", price.basis.label())];
    terms.extend(price.included.as_ref().map(|free| format!("{} not charged", free.label())));
    terms.extend(price.assumes.as_ref().map(|assumed| assumed.why.clone()));
    let mut specification = json!({
        "@type": "UnitPriceSpecification",
        "price": price.rate.usd,
        "priceCurrency": "USD",
        "unitText": price.rate.per.label(),
    });
    // The day of the oldest reading is not the day from which a price holds.
    match price.beginning {
        Beginning::TookEffect => specification["validFrom"] = json!(price.since.to_string()),
        Beginning::FirstSeen => terms.push(format!("first seen on {}", price.since)),
    }
    json!({
        "@type": "Offer",
        "name": format!("{}{}", price.component.label(), size.unwrap_or_default()),
        "description": terms.join("; "),
        "priceSpecification": specification,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_string_ends_the_element() {
        let data = json!({ "name": "</script><!--<script>", "other": "a & b" });
        let text = inert(&data);
        assert!(!text.contains('<'), "{text}");
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), data);
    }
}
