//! Settings from the environment, read once at start.

use std::net::SocketAddr;
use std::path::PathBuf;

/// Where the site listens if `THUD_ADDR` says nothing.
const ADDR: &str = "127.0.0.1:3000";
/// The name of the database in the data folder.
const DATABASE_FILE: &str = "thud.sqlite";

/// Everything that can be set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// `THUD_ADDR`: address and port; 127.0.0.1:3000 if left out.
    pub addr: SocketAddr,
    /// `THUD_DATA_DIR`: the folder of the database; the user's data folder if left out.
    pub data_dir: PathBuf,
    /// `THUD_CATALOG_DIR`: a folder of provider files instead of those that are built in.
    pub catalog_dir: Option<PathBuf>,
}

impl Config {
    /// Reads the environment; an error says which variable is wrong and what is allowed.
    pub fn from_env() -> Result<Self, String> {
        let addr = std::env::var("THUD_ADDR").unwrap_or_else(|_| ADDR.to_owned());
        let addr = addr.parse().map_err(|_| {
            format!("THUD_ADDR is {addr}; an address and a port such as {ADDR} is allowed")
        })?;
        let data_dir = match std::env::var_os("THUD_DATA_DIR") {
            Some(folder) => PathBuf::from(folder),
            None => directories::ProjectDirs::from("", "", "thud")
                .map(|folders| folders.data_dir().to_owned())
                .ok_or("no home folder is known: name a data folder with THUD_DATA_DIR")?,
        };
        let catalog_dir = std::env::var_os("THUD_CATALOG_DIR").map(PathBuf::from);
        Ok(Self { addr, data_dir, catalog_dir })
    }

    /// The database file.
    pub fn database(&self) -> PathBuf {
        self.data_dir.join(DATABASE_FILE)
    }
}
