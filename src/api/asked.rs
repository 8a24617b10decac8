//! A request of the catalog: the day that it is about, its query, and the form of the answer: JSON, or as the twin of a
//! page CSV or Markdown.

use std::convert::Infallible;

use axum::Json;
use axum::extract::{FromRef, FromRequestParts};
use axum::http::header;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use super::formats::{Sheet, csv, markdown};
use super::views::{DATA_LICENCE, Envelope};
use crate::form::Form;
use crate::query::Query;
use crate::state::{AppState, Edition};

/// That an answer is the twin of a page: it has the page's address and the ending of its form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Twin(pub Form);

/// What a handler needs to know.
pub struct Asked {
    /// The catalog of the day that is asked about.
    pub edition: Edition,
    twin: Option<Twin>,
    raw: Option<String>,
}

impl<S: Send + Sync> FromRequestParts<S> for Asked
where
    AppState: FromRef<S>,
{
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        let edition = parts.extensions.get::<Edition>().cloned();
        Ok(Self {
            edition: edition.unwrap_or_else(|| AppState::from_ref(state).current()),
            twin: parts.extensions.get::<Twin>().copied(),
            raw: parts.uri.query().map(str::to_owned),
        })
    }
}

impl Asked {
    /// The query. Programs name only what is allowed; the twin of a page is as lenient as the page, since links carry
    /// tracking tags and forms send choices that were not made.
    pub fn query(&self, allowed: &[&str]) -> Query {
        match self.twin {
            None => Query::new(self.raw.as_deref(), allowed),
            Some(_) => Query::of_page(self.raw.as_deref()),
        }
    }

    /// The answer in the form that was asked for: `result` in its envelope, or the sheet.
    pub fn answer<T: Serialize>(
        &self,
        total: usize,
        result: T,
        sheet: impl FnOnce() -> Sheet,
    ) -> Response {
        let form = self.twin.map_or(Form::Json, |Twin(form)| form);
        let body = match form {
            Form::Json => return self.json(total, result),
            Form::Csv => csv(&sheet().data),
            Form::Markdown => markdown(&sheet(), &self.foot()),
        };
        let kind = format!("{}; charset=utf-8", form.media_type());
        ([(header::CONTENT_TYPE, kind)], body).into_response()
    }

    /// The same where only programs ask, since no page shows it.
    pub fn json<T: Serialize>(&self, total: usize, result: T) -> Response {
        Json(self.envelope(total, result)).into_response()
    }

    fn envelope<T>(&self, total: usize, result: T) -> Envelope<T> {
        let Edition { day, revision, origin, .. } = &self.edition;
        Envelope {
            schema_version: 1,
            revision: revision.name().to_owned(),
            published_at: revision.published_at.clone(),
            as_of: day.to_string(),
            origin: origin.word(),
            licence: DATA_LICENCE,
            total,
            result,
        }
    }

    fn foot(&self) -> String {
        let Edition { day, revision, origin, .. } = &self.edition;
        format!(
            "As of {day} ({}). Revision {}, published here {}. US dollars without tax. Data: CC BY 4.0.",
            origin.label(),
            revision.name(),
            revision.published_at
        )
    }
}
