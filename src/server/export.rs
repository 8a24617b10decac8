//! The catalog as files for mirrors: every twin of every page, written as the site answers it.

use std::path::{Path, PathBuf};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::StatusCode;
use tower::ServiceExt;

use super::router;
use crate::comparison::Comparison;
use crate::form::Form;
use crate::state::AppState;

/// The largest file, bytes.
const FILE_BYTES_MAX: usize = 1 << 30;
/// Addresses that have one form each.
const OTHERS: [&str; 3] = ["/changes.atom", "/api/v1/openapi.json", "/api/v1/schema/provider.json"];
/// What lies beside the files.
const LICENCE: &str = "The data in this folder is from Thud's open catalog of code sandboxes and is \
                       licensed under CC BY 4.0:\nhttps://creativecommons.org/licenses/by/4.0/\n";

/// Writes every file below a folder and says how many; an error says which could not be made.
pub async fn export(state: AppState, folder: &Path) -> Result<usize, String> {
    let routed = Comparison::by_default(&state.catalog);
    let mut pages =
        ["/catalog", "/changes", "/calculator", "/calculator/workload"].map(str::to_owned).to_vec();
    pages.extend((routed.len() > 1).then(|| Comparison::address(&routed)));
    pages.extend(state.catalog.providers().iter().map(|one| format!("/sandboxes/{}", one.slug)));
    let twins = pages
        .iter()
        .flat_map(|page| Form::ALL.map(|form| format!("{page}.{}", form.word())))
        .chain(OTHERS.map(str::to_owned));
    let addresses: Vec<String> = twins.collect();
    let site = router(state);
    let mut written = 0;
    for address in addresses {
        let body = answer(&site, &address).await?;
        write(&folder.join(address.trim_start_matches('/')), &body)?;
        written += 1;
    }
    write(&folder.join("LICENCE.txt"), LICENCE.as_bytes())?;
    Ok(written + 1)
}

async fn answer(site: &Router, address: &str) -> Result<Vec<u8>, String> {
    let request =
        Request::get(address).body(Body::empty()).map_err(|error| format!("{address}: {error}"))?;
    let response = match site.clone().oneshot(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    };
    let status = response.status();
    if status != StatusCode::OK {
        return Err(format!("{address} answers {status}"));
    }
    let body = to_bytes(response.into_body(), FILE_BYTES_MAX).await;
    body.map(|bytes| bytes.to_vec()).map_err(|error| format!("{address} broke off: {error}"))
}

fn write(path: &PathBuf, body: &[u8]) -> Result<(), String> {
    let written = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    written
        .and_then(|()| std::fs::write(path, body))
        .map_err(|error| format!("{} cannot be written: {error}", path.display()))
}
