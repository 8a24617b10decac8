//! The rules of the house that the compiler does not know, held over the sources themselves.
//!
//! Not here: habits such as the length of a file or a function. Those are for a reviewer.

use std::fs;
use std::path::Path;

/// What modules must never import, and why. Words are separated by spaces.
///
/// A name covers all that is below it, and an external crate its relatives (`leptos_axum`); `*` is
/// any one module; `!` excepts. A module may always import itself.
struct Row {
    who: &'static str,
    never: &'static str,
    because: &'static str,
}

/// The direction of imports. Modules that are not there yet match nothing.
const IMPORTS: &[Row] = &[
    Row {
        who: "money",
        never: "crate leptos axum http hyper reqwest tokio sqlx",
        because: "an amount knows nothing of what it pays for, nor of who asks",
    },
    Row {
        who: "query",
        never: "axum leptos sqlx crate::api crate::pages crate::parts crate::islands crate::server",
        because: "pages and API read the same questions and answer them in their own ways",
    },
    Row {
        who: "catalog",
        never: "crate::calculator crate::comparison crate::picture crate::runs",
        because: "those stand upon the catalog",
    },
    Row {
        who: "catalog comparison calculator picture runs",
        never: "leptos axum http hyper reqwest tokio crate::database crate::state crate::router \
                crate::access crate::actions crate::islands crate::parts crate::pages crate::api",
        because: "the domain is pure: page, API and island call it, and it calls none of them",
    },
    Row {
        who: "catalog comparison calculator picture runs !*::store",
        never: "sqlx",
        because: "only the store of a noun knows that there is a database",
    },
    Row {
        who: "*::store",
        never: "crate::*::store",
        because: "a store knows the tables of its own noun and no others",
    },
    Row {
        who: "database state router access",
        never: "leptos crate::actions crate::islands crate::parts crate::pages crate::api",
        because: "what a visitor sees stands upon it, never below it",
    },
    Row {
        who: "router",
        never: "axum crate::state",
        because: "a run is given what it needs, by whatever surface",
    },
    Row {
        who: "router::e2b router::daytona router::embedded",
        never: "sqlx crate::router::SandboxRouter crate::router::e2b crate::router::daytona \
                crate::router::embedded",
        because: "an adapter knows the adapters' contract and its own provider, nothing else",
    },
    Row {
        who: "actions",
        never: "sqlx crate::parts crate::pages crate::api",
        because: "an action asks the domain and the stores, and shows nothing itself",
    },
    Row {
        who: "islands",
        never: "axum sqlx crate::parts crate::pages crate::api crate::state crate::router",
        because: "an island runs in a browser, where none of this is",
    },
    Row { who: "parts", never: "crate::pages", because: "a part serves every page and knows none" },
    Row {
        who: "parts pages",
        never: "sqlx crate::api crate::router",
        because: "a page asks the domain and the stores itself, and starts a run only by an action",
    },
    Row {
        who: "api",
        never: "leptos sqlx crate::pages crate::parts crate::islands crate::actions",
        because: "programs rely on its answers, and no change of a page may touch them",
    },
    Row {
        who: "* !main !server !tests",
        never: "crate::server",
        because: "the server puts all modules together, and only main and the tests start it",
    },
];

/// Modules that no float may touch.
const EXACT: &str = "money catalog comparison calculator";
/// Modules that write markup.
const VIEWS: &str = "pages parts islands";
/// Files that may hold SQL.
const SQL_FILES: &[&str] = &["store.rs", "lease.rs", "access.rs", "database.rs"];
/// How a colour begins that is no token; `oklab(` and `oklch(` end in two of these.
const COLOURS: &[&str] = &["rgb(", "rgba(", "hsl(", "hsla(", "hwb(", "lab(", "lch(", "color("];

/// A place in a source, and what is wrong there.
type Slip = (usize, String);
type Rule = fn(&Source) -> Vec<Slip>;

fn imports_against_the_direction(source: &Source) -> Vec<Slip> {
    let mut slips = Vec::new();
    for (at, path) in paths(&source.code) {
        let path = absolute(&path, &source.module);
        for row in IMPORTS {
            let Some(who) = source.listed(row.who) else { continue };
            let own: Vec<&str> = source.module.split("::").take(who.split("::").count()).collect();
            let own = own.join("::");
            let is_own = covers(&format!("crate::{own}"), &path);
            if !is_own && row.never.split_whitespace().any(|never| covers(never, &path)) {
                let named = path.trim_start_matches("crate::");
                slips.push((at, format!("{own} may not import {named}, because {}", row.because)));
            }
        }
    }
    slips
}

fn features_off_a_module(source: &Source) -> Vec<Slip> {
    let said = "a feature chooses whole modules: its cfg belongs on a mod line";
    let others = ["cfg!(", "cfg_attr(", "#![cfg("];
    let others = others.iter().flat_map(|word| source.code.match_indices(word)).map(|(at, _)| at);
    let has_feature =
        |at: &usize| source.code[*at..].lines().take(1).any(|l| l.contains("feature"));
    let mut slips: Vec<Slip> = others.filter(has_feature).map(|at| (at, said.to_owned())).collect();
    for (at, arguments, mut item) in source.attributes("cfg") {
        while let Some((_, after)) = item.split_once(']').filter(|_| item.starts_with("#[")) {
            item = after.trim_start();
        }
        let is_hydrate = source.path == "src/lib.rs" && item.starts_with("pub fn hydrate(");
        let is_mod = item.split(' ').find(|word| !word.starts_with("pub")) == Some("mod");
        if arguments.contains("feature") && !is_mod && !is_hydrate {
            slips.push((at, said.to_owned()));
        }
    }
    slips
}

fn floats_near_money(source: &Source) -> Vec<Slip> {
    let words: &[&str] = if source.listed(EXACT).is_some() { &["f32", "f64"] } else { &[] };
    source.words(words, "no float touches money: use Usd, Rate or Quantity")
}

fn sql_outside_a_store(source: &Source) -> Vec<Slip> {
    let said = "SQL is in the store of its noun (also lease.rs, access.rs, database.rs)";
    let is_sql = |path: &str| {
        let called = path.strip_prefix("sqlx::").unwrap_or_default();
        ["query", "raw_sql", "QueryBuilder"].iter().any(|name| called.starts_with(name))
    };
    let is_test = source.listed("tests").is_some();
    let may = is_test || source.path.rsplit('/').take(1).any(|file| SQL_FILES.contains(&file));
    let found = paths(&source.code).into_iter().filter(|(_, path)| !may && is_sql(path));
    found.map(|(at, _)| (at, said.to_owned())).collect()
}

fn server_functions_out_of_place(source: &Source) -> Vec<Slip> {
    let mut slips = Vec::new();
    for (at, arguments, item) in source.attributes("server") {
        // What is said of an argument of one.
        if ["flatten)", "default)"].contains(&arguments) {
            continue;
        }
        let signature = item.split('{').next().unwrap_or_default();
        let is_named = arguments.contains("prefix =") && arguments.contains("endpoint =");
        for (is_slip, said) in [
            (source.module != "actions", "a server function is in actions.rs"),
            (!is_named, "a server function names its prefix and endpoint"),
            (signature.contains("usize"), "usize is narrower in a browser: name a width"),
        ] {
            if is_slip {
                slips.push((at, said.to_owned()));
            }
        }
    }
    slips
}

fn islands_out_of_place(source: &Source) -> Vec<Slip> {
    let found = source.attributes("island").into_iter();
    let slips = found.filter(|_| source.listed("islands").is_none());
    slips.map(|(at, _, _)| (at, "an island is a file in islands/".to_owned())).collect()
}

fn inline_styles(source: &Source) -> Vec<Slip> {
    let said = "the security policy forbids inline styles: use a class of style/main.css";
    let is_slip = |(at, word): &(usize, &str)| {
        let before = source.shown[..*at].chars().next_back().unwrap_or(' ');
        let after = &source.shown[at + word.len()..];
        let is_name = before.is_alphanumeric() || "_-".contains(before);
        let is_attribute = after.starts_with('=') && !after.starts_with("==");
        let property = after.strip_prefix(':').unwrap_or_default();
        let is_property = property.starts_with(char::is_alphabetic);
        let is_element_or_call = before == '<' || before == '.' && after.starts_with('(');
        !is_name && (is_attribute || is_property || is_element_or_call)
    };
    let found = source.shown.match_indices("style").filter(|_| source.listed(VIEWS).is_some());
    found.filter(is_slip).map(|(at, _)| (at, said.to_owned())).collect()
}

fn raw_colours(source: &Source) -> Vec<Slip> {
    let said = "a colour is a token: name it in @layer tokens and use it by var()";
    let css = without_tokens(&source.shown);
    let is_hex = |(at, _): &(usize, &str)| {
        let word = css[at + 1..].split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-');
        let digits = word.take(1).collect::<String>();
        (3..=8).contains(&digits.len()) && digits.chars().all(|c| c.is_ascii_hexdigit())
    };
    let hexes = css.match_indices('#').filter(is_hex);
    let functions = COLOURS.iter().flat_map(|colour| css.match_indices(colour));
    hexes.chain(functions).map(|(at, _)| (at, said.to_owned())).collect()
}

fn no_opening_words(source: &Source) -> Vec<Slip> {
    let said = "a file opens with //!: what it is for and what it is not";
    let slip = (!source.text.starts_with("//! ")).then(|| (0, said.to_owned()));
    slip.into_iter().collect()
}

fn silenced_lints(source: &Source) -> Vec<Slip> {
    source.words(&["[allow("], "say #[expect(…, reason = …)], which ends when its reason does")
}

/// A source file as it stands, and two readings of it that differ only in what is blank.
struct Source {
    path: String,
    /// Such as `pages::home`; nothing in `lib.rs` and outside `src`.
    module: String,
    text: String,
    /// Without comments and the file's own tests.
    shown: String,
    /// Without what stands in strings either.
    code: String,
}

impl Source {
    fn new(path: &str, text: &str) -> Self {
        let module = path.strip_prefix("src/").filter(|path| *path != "lib.rs").unwrap_or_default();
        Self {
            path: path.to_owned(),
            module: module.trim_end_matches(".rs").replace('/', "::"),
            text: text.to_owned(),
            shown: without_comments(text, true),
            code: without_comments(text, false),
        }
    }

    /// The word of a list that covers this module, unless another excepts it.
    fn listed(&self, list: &'static str) -> Option<&'static str> {
        let mut excepted = list.split_whitespace().filter_map(|word| word.strip_prefix('!'));
        let is_excepted = excepted.any(|word| covers(word, &self.module));
        list.split_whitespace().find(|word| !is_excepted && covers(word, &self.module))
    }

    fn words(&self, words: &[&str], said: &str) -> Vec<Slip> {
        let places = words.iter().flat_map(|word| self.code.match_indices(word));
        places.map(|(at, _)| (at, said.to_owned())).collect()
    }

    /// Every attribute of this name, also behind a path: its place, its arguments, what follows it.
    fn attributes(&self, name: &str) -> Vec<(usize, &str, &str)> {
        let read = |(at, _): (usize, &str)| {
            let (attribute, item) = self.code[at + 2..].split_once(']')?;
            let (path, arguments) = attribute.split_once('(').unwrap_or((attribute, ""));
            let is_named = path.rsplit("::").next() == Some(name);
            is_named.then_some((at, arguments, item.trim_start()))
        };
        self.code.match_indices("#[").filter_map(read).collect()
    }

    /// What breaks a rule, with file and line.
    fn slips(&self, rule: Rule) -> Vec<String> {
        let line = |at: usize| self.text[..at].matches('\n').count() + 1;
        let slips = rule(self).into_iter();
        slips.map(|(at, said)| format!("{}:{}: {said}", self.path, line(at))).collect()
    }
}

/// Spaces for every byte but the ends of lines.
fn blank(text: &str) -> String {
    text.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }).collect()
}

/// The text without the tests at its bottom, blank where comments are, and where strings are too
/// unless they are kept.
fn without_comments(text: &str, keep_strings: bool) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (length, is_kept) = if rest.starts_with("//") {
            (rest.find('\n').unwrap_or(rest.len()), false)
        } else if rest.starts_with("/*") {
            (rest.find("*/").map_or(rest.len(), |end| end + 2), false)
        } else if let Some(length) = string_length(rest) {
            (length, keep_strings)
        } else {
            (first.len_utf8(), true)
        };
        let (piece, after) = rest.split_at(length);
        if is_kept {
            code.push_str(piece);
        } else {
            code.push_str(&blank(piece));
        }
        rest = after;
    }
    code.truncate(code.find("\nmod tests {").unwrap_or(code.len()));
    code
}

/// The length of the string or character that the text begins with.
fn string_length(text: &str) -> Option<usize> {
    let raw = text.strip_prefix('r').unwrap_or_default();
    let hashes = &raw[..raw.len() - raw.trim_start_matches('#').len()];
    if let Some(inner) = raw[hashes.len()..].strip_prefix('"') {
        let end = format!("\"{hashes}");
        return inner.find(&end).map(|length| 1 + end.len() + length + end.len());
    }
    let mut characters = text.char_indices();
    let quote = characters.next().map(|(_, c)| c).filter(|c| matches!(c, '"' | '\''))?;
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => drop(characters.next()),
            character if character == quote => return Some(at + 1),
            // A character is short, up to `\u{10ffff}`; else it was a lifetime.
            _ if quote == '\'' && at > 1 && !text.starts_with("'\\") => return None,
            _ => {}
        }
    }
    None
}

/// The stylesheet with spaces in place of its tokens' layer.
fn without_tokens(css: &str) -> String {
    let mut rest = css.to_owned();
    while let Some(start) = rest.find("@layer tokens {") {
        let mut depth = 0;
        let end = rest[start..].find(|c| {
            depth += i32::from(c == '{') - i32::from(c == '}');
            c == '}' && depth == 0
        });
        let end = end.map_or(rest.len(), |end| start + end);
        rest.replace_range(start..end, &blank(&rest[start..end]));
    }
    rest
}

/// Every path of two names or more and where it is; `a::{b, c}` is written out: `a::b`, `a::c`.
fn paths(code: &str) -> Vec<(usize, String)> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let (mut found, mut groups) = (Vec::new(), Vec::new());
    let (mut path, mut start, mut is_joined) = (String::new(), 0, false);
    let mut at = 0;
    while let Some(first) = code[at..].chars().next() {
        let rest = &code[at..];
        let length = match rest.find(|c| !is_name(c)) {
            Some(0) if rest.starts_with("::") => 2,
            Some(0) => first.len_utf8(),
            length => length.unwrap_or(rest.len()),
        };
        let token = &rest[..length];
        at += length;
        match token {
            "::" => is_joined = !path.is_empty(),
            _ if first == ' ' => {}
            "{" if is_joined => groups.push(std::mem::take(&mut path) + "::"),
            name if is_joined && is_name(first) => path = path + "::" + name,
            _ => {
                found.push((start, std::mem::take(&mut path)));
                start = at - length;
                match token {
                    "{" => groups.push(String::new()),
                    "}" => drop(groups.pop()),
                    name if is_name(first) => {
                        path = groups.last().cloned().unwrap_or_default() + name;
                    }
                    _ => {}
                }
            }
        }
        is_joined = is_joined && token == "::";
    }
    found.push((start, path));
    found.retain(|(_, path)| path.contains("::"));
    found
}

/// A path from the root of the crate, where it is one of ours.
fn absolute(path: &str, module: &str) -> String {
    let (mut place, mut below) = (format!("crate::{module}"), path);
    while let Some(rest) = below.strip_prefix("super::") {
        place.truncate(place.rfind("::").unwrap_or(place.len()));
        below = rest;
    }
    match path.split_once("::") {
        Some(("super", _)) => format!("{place}::{below}"),
        Some(("self", rest)) => format!("{place}::{rest}"),
        Some(("thud", rest)) => format!("crate::{rest}"),
        _ => path.to_owned(),
    }
}

fn covers(pattern: &str, path: &str) -> bool {
    let mut names = path.split("::");
    pattern.split("::").enumerate().all(|(place, wanted)| {
        let is_wanted = |name: &str| {
            let family = name.split('_').next();
            wanted == "*" || name == wanted || place == 0 && family == Some(wanted)
        };
        names.next().is_some_and(is_wanted)
    })
}

/// Every source below a folder.
fn sources(folder: &str) -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for entry in fs::read_dir(root.join(folder)).unwrap() {
        let entry = entry.unwrap();
        let path = format!("{folder}/{}", entry.file_name().to_str().unwrap());
        if entry.file_type().unwrap().is_dir() {
            found.extend(sources(&path));
        } else if entry.path().extension().is_some_and(|kind| kind == "rs" || kind == "css") {
            found.push(Source::new(&path, &fs::read_to_string(entry.path()).unwrap()));
        }
    }
    found.sort_by(|left, right| left.path.cmp(&right.path));
    found
}

fn hold(rule: Rule, folders: &[&str]) {
    let files: Vec<Source> = folders.iter().flat_map(|folder| sources(folder)).collect();
    assert!(!files.is_empty());
    let slips: Vec<String> = files.iter().flat_map(|file| file.slips(rule)).collect();
    assert!(slips.is_empty(), "\n{}\n", slips.join("\n"));
}

/// A rule refuses a text in one place, and says so with file and line.
fn refuses(rule: Rule, path: &str, text: &str, said: &str) {
    let slips = Source::new(path, text).slips(rule);
    assert!(slips.len() == 1 && slips[0].starts_with(said), "{path}: {text}\n{slips:?}");
}

fn passes(rule: Rule, path: &str, text: &str) {
    assert_eq!(Source::new(path, text).slips(rule), Vec::<String>::new(), "{path}: {text}");
}

#[test]
fn imports_go_one_way() {
    hold(imports_against_the_direction, &["src"]);
}

#[test]
fn each_row_of_the_import_table_can_fail() {
    for row in IMPORTS {
        for who in row.who.split_whitespace().filter(|who| !who.starts_with('!')) {
            let who = who.replace('*', "other");
            let path = format!("src/{}/noun.rs", who.replace("::", "/"));
            for never in row.never.split_whitespace() {
                let text = format!("use {}::Thing;", never.replace('*', "noun"));
                let slips = Source::new(&path, &text).slips(imports_against_the_direction);
                let is_own = never == format!("crate::{who}");
                assert_eq!(slips.is_empty(), is_own, "{path}: {text}");
            }
        }
    }
}

#[test]
fn every_way_to_name_a_module_is_seen() {
    let rule = imports_against_the_direction;
    let said = "src/pages/home.rs:2: pages may not import api::views, because a page asks";
    for text in [
        "\nuse crate::api::views;",
        "\nuse crate::{api::{views, }, catalog};",
        "\nfn a() { crate::api::views(); }",
        "\npub use super::super::api::views;",
        "\nlet a = '\"'; crate::api::views(); let b: &'a str = \"\";",
    ] {
        refuses(rule, "src/pages/home.rs", text, said);
    }
    refuses(rule, "src/router/e2b.rs", "use super::daytona::A;", "src/router/e2b.rs:1: router");
    refuses(rule, "src/money.rs", "use crate::catalog::Price;", "src/money.rs:1: money may");
    refuses(rule, "src/api/runs.rs", "fn a() -> leptos_axum::A {}", "src/api/runs.rs:1: api may");
    for text in [
        "// use crate::api;",
        "/* use\ncrate::api; */",
        "let a = \"crate::api::views\"; let b = r#\"\"crate::api::views\"#;",
        "fn a() {}\n#[cfg(test)]\nmod tests {\n    use crate::api::views;\n}",
        "use crate::{catalog::Provider, pages::shell};",
    ] {
        passes(rule, "src/pages/home.rs", text);
    }
    passes(rule, "src/catalog/store.rs", "use sqlx::SqlitePool;\nuse super::load::CatalogFile;");
    passes(rule, "src/main.rs", "use thud::server::config;");
}

#[test]
fn a_feature_chooses_whole_modules() {
    hold(features_off_a_module, &["src"]);
}

#[test]
fn a_feature_off_a_mod_line_is_refused() {
    let rule = features_off_a_module;
    let said = "src/state.rs:1: a feature";
    refuses(rule, "src/state.rs", "#[cfg(feature = \"ssr\")]\nfn open() {}", said);
    refuses(rule, "src/state.rs", "#[cfg(feature = \"ssr\")]\npub fn hydrate() {}", said);
    refuses(rule, "src/state.rs", "if cfg!(not(feature = \"ssr\")) {}\nmod a;", said);
    refuses(rule, "src/state.rs", "#![cfg(feature = \"ssr\")]\nmod a;", said);
    refuses(rule, "src/state.rs", "#[cfg_attr(feature = \"ssr\", derive(Eq))]\nstruct A;", said);
    passes(rule, "src/state.rs", "#[cfg(all(test, feature = \"ssr\"))]\n#[macro_use]\npub mod a;");
    passes(rule, "src/lib.rs", "#[cfg(feature = \"hydrate\")]\n#[bind]\npub fn hydrate() {}");
}

#[test]
fn no_float_touches_money() {
    hold(floats_near_money, &["src"]);
}

#[test]
fn a_float_near_money_is_refused() {
    let said = "src/catalog/price.rs:1: no float";
    refuses(floats_near_money, "src/catalog/price.rs", "let a = rate.to_f64();", said);
    refuses(floats_near_money, "src/catalog/price.rs", "fn a(share: f32) {}", said);
    passes(floats_near_money, "src/catalog/price.rs", "// never an f64");
    passes(floats_near_money, "src/picture.rs", "let width: f64 = 1.0;");
}

#[test]
fn sql_is_in_stores() {
    hold(sql_outside_a_store, &["src"]);
}

#[test]
fn sql_outside_a_store_is_refused() {
    let rule = sql_outside_a_store;
    refuses(rule, "src/api/runs.rs", "\nsqlx::query(\"select 1\")", "src/api/runs.rs:2: SQL");
    refuses(rule, "src/runs.rs", "use sqlx::{SqlitePool, query_as};", "src/runs.rs:1: SQL");
    passes(rule, "src/runs/store.rs", "sqlx::query_scalar!(\"select 1\")");
    passes(rule, "src/state.rs", "use sqlx::SqlitePool;");
}

#[test]
fn server_functions_are_in_one_place_and_name_their_address() {
    hold(server_functions_out_of_place, &["src"]);
}

#[test]
fn a_server_function_out_of_place_is_refused() {
    let rule = server_functions_out_of_place;
    let named = "#[server(prefix = \"/do\", endpoint = \"start-run\")]";
    let whole = format!("{named}\npub async fn start_run(limit: u32) -> A {{ let a: usize = 1; }}");
    passes(rule, "src/actions.rs", &whole);
    passes(rule, "src/actions.rs", &whole.replace("limit", "#[server(default)] limit"));
    refuses(rule, "src/islands/run.rs", &whole, "src/islands/run.rs:1: a server function is in");
    let unnamed = whole.replace(named, "#[leptos::server(StartRun, \"/do\")]");
    refuses(rule, "src/actions.rs", &unnamed, "src/actions.rs:1: a server function names");
    let wide = whole.replace("u32", "usize");
    refuses(rule, "src/actions.rs", &wide, "src/actions.rs:1: usize");
}

#[test]
fn islands_are_files_of_their_own() {
    hold(islands_out_of_place, &["src"]);
}

#[test]
fn an_island_out_of_place_is_refused() {
    let said = "src/pages/home.rs:2: an island";
    refuses(islands_out_of_place, "src/pages/home.rs", "\n#[island]\nfn A() {}", said);
    refuses(islands_out_of_place, "src/pages/home.rs", "\n#[island(lazy)]\nfn A() {}", said);
    passes(islands_out_of_place, "src/islands/calculator.rs", "#[island]\nfn A() {}");
}

#[test]
fn no_view_has_an_inline_style() {
    hold(inline_styles, &["src"]);
}

#[test]
fn an_inline_style_is_refused() {
    for text in [
        "<p style=\"margin: 0\">",
        "let a = \"<p style='margin: 0'>\";",
        "<p style:margin=move || 0>",
        "p().style(\"margin: 0\")",
        "<style>\"p {}\"</style>",
    ] {
        refuses(inline_styles, "src/parts.rs", text, "src/parts.rs:1: the security policy");
    }
    passes(inline_styles, "src/parts.rs", "// style=\nlet style = a; struct A { style: Style }");
}

#[test]
fn every_colour_is_a_token() {
    hold(raw_colours, &["style"]);
}

#[test]
fn a_raw_colour_outside_the_tokens_is_refused() {
    let said = "style/main.css:2: a colour";
    for colour in ["#fff", "#12ab34cc", "rgb(0 0 0)", "hsla(0, 0%, 0%, 1)", "oklch(50% 0 0)"] {
        let text = format!("\n@layer base {{ a {{ color: {colour}; }} }}");
        refuses(raw_colours, "style/main.css", &text, said);
        let tokens = format!("@layer tokens {{ :root {{ --ink: {colour}; }} a {{}} }}");
        passes(raw_colours, "style/main.css", &tokens);
    }
    passes(raw_colours, "style/main.css", "/* #fff */ a { color: var(--color-text); }");
    passes(raw_colours, "style/main.css", "a { color: color-mix(in oklch, var(--a), var(--b)); }");
}

#[test]
fn every_file_opens_with_what_it_is_for() {
    hold(no_opening_words, &["src", "xtask/src"]);
}

#[test]
fn a_file_without_opening_words_is_refused() {
    refuses(no_opening_words, "src/state.rs", "use std::fs;", "src/state.rs:1: a file opens");
    passes(no_opening_words, "src/state.rs", "//! What every request shares.");
}

#[test]
fn no_lint_is_silenced_for_good() {
    hold(silenced_lints, &["src", "xtask/src"]);
}

#[test]
fn a_silenced_lint_is_refused() {
    refuses(silenced_lints, "src/a.rs", "#![allow(dead_code)]", "src/a.rs:1: say #[expect(");
    passes(silenced_lints, "src/a.rs", "#[expect(dead_code, reason = \"[allow(\")]");
}
