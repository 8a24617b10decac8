//! The catalog: every provider in its fixed order, and how one is found.

// First, since the others declare their vocabularies by its macro.
#[macro_use]
pub mod word;

pub mod card;
#[cfg(feature = "ssr")]
pub mod change;
#[cfg(feature = "ssr")]
pub mod chronicle;
pub mod claim;
#[cfg(feature = "ssr")]
pub mod field;
pub mod freshness;
pub mod listing;
#[cfg(feature = "ssr")]
pub mod past;
#[cfg(feature = "ssr")]
pub mod place;
#[macro_use]
pub mod plan;
pub mod price;
#[macro_use]
pub mod provider;
#[cfg(feature = "ssr")]
pub mod load;
#[cfg(feature = "ssr")]
pub mod schema;
pub mod score;
pub mod shape;
pub mod sizes;
#[cfg(feature = "ssr")]
pub mod store;

pub use provider::{Provider, ProviderSlug};
pub use shape::Shape;

/// Every provider, by position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Catalog {
    providers: Vec<Provider>,
}

impl Catalog {
    /// A catalog of providers that are in order already.
    pub fn new(providers: Vec<Provider>) -> Self {
        Self { providers }
    }

    /// Every provider, by position.
    pub fn providers(&self) -> &[Provider] {
        &self.providers
    }

    /// A provider by its slug.
    pub fn find(&self, slug: &str) -> Option<&Provider> {
        self.providers.iter().find(|provider| provider.slug.as_str() == slug)
    }

    /// Providers that the router reaches.
    pub fn routed(&self) -> impl Iterator<Item = &Provider> {
        self.providers.iter().filter(|provider| provider.status == word::Status::Routed)
    }
}
