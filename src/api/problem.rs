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
    /// A stable path on this site.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The kind of error in a few words.
    pub title: &'static str,
    /// The HTTP status.
    pub status: u16,
    /// What happened and what is allowed.
    pub detail: String,
    /// One entry for each parameter that is wrong.
    pub errors: Vec<FieldError>,
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
        Self {
            kind: "/api#bad-request",
            title: "Bad request",
            status: StatusCode::BAD_REQUEST.as_u16(),
            detail,
            errors,
        }
    }

    /// 404: no such thing, with what there is.
    pub fn not_found(detail: impl Into<String>) -> Self {
        Self {
            kind: "/api#not-found",
            title: "Not found",
            status: StatusCode::NOT_FOUND.as_u16(),
            detail: detail.into(),
            errors: Vec::new(),
        }
    }

    /// 405: the path is there, the method is not.
    pub fn method_not_allowed() -> Self {
        Self {
            kind: "/api#method-not-allowed",
            title: "Method not allowed",
            status: StatusCode::METHOD_NOT_ALLOWED.as_u16(),
            detail: "this path answers GET, HEAD and OPTIONS".to_owned(),
            errors: Vec::new(),
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = (status, Json(self)).into_response();
        response
            .headers_mut()
            .insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        response
    }
}
