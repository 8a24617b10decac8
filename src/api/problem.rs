//! Errors of the API as `application/problem+json` (RFC 9457).

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use crate::query::{FieldError, Query};

/// An error that a program can branch on by its `type`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Problem {
    /// A stable path on this site, where the type is explained.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The kind of error in a few words.
    pub title: &'static str,
    /// The HTTP status.
    pub status: u16,
    /// What happened and what is allowed.
    pub detail: String,
    /// The request by its id, as in the header `x-request-id`.
    pub instance: Option<String>,
    /// One entry for each parameter that is wrong.
    pub errors: Vec<FieldError>,
    /// Seconds after which to try again, for the header `Retry-After`.
    #[serde(skip)]
    pub retry_after: Option<u32>,
}

impl Problem {
    /// Nothing if all of a query was right, else 400 with everything that was wrong.
    pub fn of(query: Query) -> Result<(), Self> {
        let errors = query.errors();
        if errors.is_empty() { Ok(()) } else { Err(Self::bad_request(errors)) }
    }

    /// 400: parameters that are unknown or out of range.
    pub fn bad_request(errors: Vec<FieldError>) -> Self {
        let detail = errors
            .iter()
            .map(|error| format!("{} {}", error.field, error.message))
            .collect::<Vec<_>>()
            .join("; ");
        Self { errors, ..Self::of_status(StatusCode::BAD_REQUEST).saying(detail) }
    }

    /// 404: no such thing, with what there is.
    pub fn not_found(detail: impl Into<String>) -> Self {
        Self::of_status(StatusCode::NOT_FOUND).saying(detail)
    }

    /// What can be said of a status alone.
    pub fn of_status(status: StatusCode) -> Self {
        let (kind, title, detail) = match status {
            StatusCode::BAD_REQUEST => {
                ("/api#bad-request", "Bad request", "the request cannot be read")
            }
            StatusCode::UNAUTHORIZED => (
                "/api#unauthorized",
                "Unauthorized",
                "a token is needed that this site has given and not revoked: Authorization: Bearer",
            ),
            StatusCode::PAYMENT_REQUIRED => {
                ("/api#over-budget", "Over budget", "the budget of the token does not hold it")
            }
            StatusCode::FORBIDDEN => ("/api#forbidden", "Forbidden", "this is not allowed"),
            StatusCode::CONFLICT => {
                ("/api#conflict", "Conflict", "something else stands under this key already")
            }
            StatusCode::UNSUPPORTED_MEDIA_TYPE => (
                "/api#unsupported-media-type",
                "Unsupported media type",
                "the body must be application/json",
            ),
            StatusCode::TOO_MANY_REQUESTS => {
                ("/api#rate-limited", "Rate limited", "too many requests; try again later")
            }
            StatusCode::NOT_FOUND => (
                "/api#not-found",
                "Not found",
                "there is no such path; /api/v1/openapi.json lists those that are there",
            ),
            StatusCode::METHOD_NOT_ALLOWED => (
                "/api#method-not-allowed",
                "Method not allowed",
                "this path does not answer that method; the header Allow names those that it does",
            ),
            StatusCode::PAYLOAD_TOO_LARGE => (
                "/api#too-large",
                "Too large",
                "the body is larger than anything that is asked for",
            ),
            StatusCode::MISDIRECTED_REQUEST => (
                "/api#misdirected",
                "Misdirected request",
                "this site does not answer for the host that was asked for",
            ),
            StatusCode::SERVICE_UNAVAILABLE => {
                ("/api#unavailable", "Unavailable", "the site could not answer in time; try again")
            }
            _ => ("/api#internal", "Internal error", "something went wrong here; it is in our log"),
        };
        let status = status.as_u16();
        Self {
            kind,
            title,
            status,
            detail: detail.to_owned(),
            instance: None,
            errors: Vec::new(),
            retry_after: None,
        }
    }

    /// The same about this very request.
    #[must_use]
    pub fn saying(self, detail: impl Into<String>) -> Self {
        Self { detail: detail.into(), ..self }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = (status, Json(&self)).into_response();
        response
            .headers_mut()
            .insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if status == StatusCode::UNAUTHORIZED {
            let scheme = HeaderValue::from_static("Bearer");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
        }
        // So that a layer which knows the request can name it.
        response.extensions_mut().insert(self);
        response
    }
}
