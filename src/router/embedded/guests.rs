//! The two guests: their bytes, which the program carries, and their compiled form in a private folder.
//!
//! The compiled form is machine code that is mapped and run unchecked. So its folder belongs to this user alone, and
//! its name tells all that it depends on: the guest, Wasmtime, the target and the settings.

use std::fs::{self, File};
use std::hash::{Hash, Hasher};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use thiserror::Error;
use wasmtime::Engine;

use super::{Language, engine};
use crate::hash::{hexadecimal, sha256};

/// The hashes of the uncompressed guests, also read by `cargo xtask guests`.
const SHA256SUMS: &str = include_str!("../../../guests/SHA256SUMS");
const PYTHON: &[u8] = include_bytes!("../../../guests/python.wasm.zst");
const JAVASCRIPT: &[u8] = include_bytes!("../../../guests/qjs.wasm.zst");

/// A guest is a fourth of this; the rest guards against a damaged one.
const MAX_GUEST_BYTES: usize = 128 * 1024 * 1024;
const PRIVATE: u32 = 0o700;
/// How files of compiled guests end.
const COMPILED: &str = "cwasm";
/// How long a compiled guest is kept that no server has started with.
const UNUSED_FOR: Duration = Duration::from_hours(24 * 30);

/// Why there is no compiled guest.
#[derive(Debug, Error)]
pub enum GuestError {
    /// The folder or a file in it.
    #[error("{what} {path}")]
    File { what: &'static str, path: PathBuf, source: io::Error },
    /// The folder is another user's, who could put code of theirs into it.
    #[error("{path} belongs to another user")]
    NotOurs { path: PathBuf },
    /// The guest that the program carries is damaged.
    #[error("the {language} guest is not what guests/SHA256SUMS says")]
    Damaged { language: Language },
    /// Wasmtime refuses the guest.
    #[error("the {language} guest cannot be compiled")]
    Compile { language: Language, source: wasmtime::Error },
}

impl Language {
    fn file_name(self) -> &'static str {
        match self {
            Self::Python => "python.wasm",
            Self::JavaScript => "qjs.wasm",
        }
    }

    fn packed(self) -> &'static [u8] {
        match self {
            Self::Python => PYTHON,
            Self::JavaScript => JAVASCRIPT,
        }
    }
}

/// The hash that a guest must have.
fn expected_hash(language: Language) -> Option<&'static str> {
    let mut lines = SHA256SUMS.lines().filter_map(|line| line.split_once("  "));
    lines.find(|(_, name)| *name == language.file_name()).map(|(hash, _)| hash)
}

/// A guest as the program carries it, unpacked and checked.
fn built_in(language: Language) -> Result<Vec<u8>, GuestError> {
    let wasm = zstd::bulk::decompress(language.packed(), MAX_GUEST_BYTES)
        .map_err(|_| GuestError::Damaged { language })?;
    if expected_hash(language) != Some(hexadecimal(&sha256(&wasm)).as_str()) {
        return Err(GuestError::Damaged { language });
    }
    Ok(wasm)
}

/// Sees to it that the compiled guest is in the cache, and gives its path. Takes seconds where it is not. `guests` is
/// a folder with guests that take the place of the built-in ones.
pub fn prepare(
    language: Language,
    cache: &Path,
    guests: Option<&Path>,
) -> Result<PathBuf, GuestError> {
    let file_error = |what, path: &Path| {
        let path = path.to_owned();
        move |source| GuestError::File { what, path, source }
    };
    make_private(cache)?;
    let engine = engine::engine().map_err(|source| GuestError::Compile { language, source })?;
    // Another server of this user may be about to compile the same.
    let lock_path = cache.join("lock");
    let lock = File::create(&lock_path).map_err(file_error("cannot write", &lock_path))?;
    lock.lock().map_err(file_error("cannot lock", &lock_path))?;

    let (hash, given) = match guests {
        None => (expected_hash(language).unwrap_or_default().to_owned(), None),
        Some(folder) => {
            let path = folder.join(language.file_name());
            let wasm = fs::read(&path).map_err(file_error("cannot read", &path))?;
            (hexadecimal(&sha256(&wasm)), Some(wasm))
        }
    };
    let path = cache.join(compiled_name(language, &hash, &engine));
    if path.is_file() && engine::loads(&engine, language, &path) {
        touch(&path);
        return Ok(path);
    }
    remove_unused(cache);
    let wasm = match given {
        Some(wasm) => wasm,
        None => built_in(language)?,
    };
    let compiled = engine::compile(&engine, language, &wasm)
        .map_err(|source| GuestError::Compile { language, source })?;
    // Under its own name only when it is whole.
    let partial = path.with_extension("partial");
    let mut file = File::create(&partial).map_err(file_error("cannot write", &partial))?;
    file.write_all(&compiled).map_err(file_error("cannot write", &partial))?;
    file.sync_all().map_err(file_error("cannot write", &partial))?;
    fs::rename(&partial, &path).map_err(file_error("cannot rename into", &path))?;
    Ok(path)
}

/// Marks a compiled guest as used. Where that fails, it is compiled anew one day.
fn touch(path: &Path) {
    let _ = File::open(path).and_then(|file| file.set_modified(SystemTime::now()));
}

/// Removes what other versions of the program have compiled and not used for long. Whatever cannot be removed stays.
fn remove_unused(cache: &Path) {
    for path in fs::read_dir(cache).into_iter().flatten().flatten().map(|entry| entry.path()) {
        let modified = fs::metadata(&path).and_then(|found| found.modified());
        let age = modified.ok().and_then(|modified| modified.elapsed().ok()).unwrap_or_default();
        if age > UNUSED_FOR && path.extension().is_some_and(|kind| kind == COMPILED) {
            let _ = fs::remove_file(path);
        }
    }
}

/// The name of a compiled guest: all that its machine code depends on.
fn compiled_name(language: Language, hash: &str, engine: &Engine) -> String {
    // Wasmtime's own sum of its version, the target and every setting.
    let mut settings = std::hash::DefaultHasher::new();
    engine.precompile_compatibility_hash().hash(&mut settings);
    format!("{}-{hash}-{:016x}.{COMPILED}", language.file_name(), settings.finish())
}

/// Makes the folder, or what is there already, readable and writable for this user alone.
fn make_private(folder: &Path) -> Result<(), GuestError> {
    let error = |source| GuestError::File {
        what: "cannot make a private folder of",
        path: folder.to_owned(),
        source,
    };
    fs::DirBuilder::new().recursive(true).mode(PRIVATE).create(folder).map_err(error)?;
    let found = fs::metadata(folder).map_err(error)?;
    if found.uid() != rustix::process::geteuid().as_raw() {
        return Err(GuestError::NotOurs { path: folder.to_owned() });
    }
    if found.permissions().mode() & 0o777 != PRIVATE {
        fs::set_permissions(folder, fs::Permissions::from_mode(PRIVATE)).map_err(error)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_guests_are_those_of_the_list() {
        for language in Language::ALL {
            let wasm = built_in(language).unwrap();
            assert!(wasm.starts_with(b"\0asm"), "{language}");
        }
        assert_eq!(SHA256SUMS.lines().count(), Language::ALL.len());
    }

    #[test]
    fn the_cache_is_made_private_again() {
        let folder = tempfile::tempdir().unwrap();
        let cache = folder.path().join("a/b");
        make_private(&cache).unwrap();
        fs::set_permissions(&cache, fs::Permissions::from_mode(0o755)).unwrap();
        make_private(&cache).unwrap();
        assert_eq!(fs::metadata(&cache).unwrap().permissions().mode() & 0o777, PRIVATE);
    }

    #[test]
    fn a_compiled_guest_that_does_not_load_is_made_anew() {
        let folder = tempfile::tempdir().unwrap();
        // An empty module in place of a guest: compiled in a moment.
        fs::write(folder.path().join("qjs.wasm"), b"\0asm\x01\0\0\0").unwrap();
        let prepare =
            || prepare(Language::JavaScript, &folder.path().join("cache"), Some(folder.path()));
        let path = prepare().unwrap();
        let compiled = fs::read(&path).unwrap();
        fs::write(&path, "damaged").unwrap();
        assert_eq!(prepare().unwrap(), path);
        assert_eq!(fs::read(&path).unwrap(), compiled);
    }

    #[test]
    fn what_was_compiled_long_ago_for_another_version_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name| folder.path().join(name);
        for (name, age) in [("old.cwasm", UNUSED_FOR * 2), ("new.cwasm", UNUSED_FOR / 2)] {
            let file = File::create(path(name)).unwrap();
            file.set_modified(SystemTime::now() - age).unwrap();
        }
        remove_unused(folder.path());
        assert!(!path("old.cwasm").exists() && path("new.cwasm").exists());
        touch(&path("new.cwasm"));
        assert!(
            fs::metadata(path("new.cwasm")).unwrap().modified().unwrap().elapsed().unwrap()
                < UNUSED_FOR / 4
        );
    }
}
