//! A provider that the site could use and has no key for: it is named, with the reason, and never asked.

use async_trait::async_trait;

use super::adapter::{Adapter, Created, Failure, Gone, Order, Owed, Readiness, Terms};
use crate::runs::Reason;

/// A provider without a key.
#[derive(Debug, Clone)]
pub struct NotSetUp {
    slug: &'static str,
    terms: Terms,
    variable: &'static str,
}

impl NotSetUp {
    /// A provider, what it would offer, and the environment variable that would set it up.
    pub fn new(slug: &'static str, terms: Terms, variable: &'static str) -> Self {
        Self { slug, terms, variable }
    }
}

#[async_trait]
impl Adapter for NotSetUp {
    fn slug(&self) -> &'static str {
        self.slug
    }

    fn terms(&self) -> Terms {
        self.terms.clone()
    }

    fn about(&self) -> Option<String> {
        Some(format!("Not set up here: whoever runs this site can do so with {}.", self.variable))
    }

    fn readiness(&self) -> Readiness {
        Readiness::NotConfigured
    }

    async fn create(&self, _: &Order) -> Result<Created, Failure> {
        Err(Failure::leaving_nothing(Reason::Auth))
    }

    async fn destroy(&self, _: &Owed) -> Result<Gone, Failure> {
        // What was made when there was a key is still owed.
        Err(Failure::leaving_perhaps(Reason::Auth))
    }

    async fn tagged(&self) -> Result<Vec<Owed>, Failure> {
        Ok(Vec::new())
    }
}
