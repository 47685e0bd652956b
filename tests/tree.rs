//! Holds the tree to its own rules: layers, headers, file lengths, live links, nothing left open.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Lines of a source file at most; docs aim at 400.
const LINES_MAX: usize = 900;

/// Folders of Rust sources, from the root.
const SOURCES: [&str; 9] = [
    "engine/src",
    "engine/tests",
    "cql-front/src",
    "cql-front/tests",
    "cli/src",
    "cli/tests",
    "tests",
    "benches/src",
    "benches/benches",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Files below `folder` (from the root) whose name ends with `.end`, with their text; paths from the root.
fn files(folder: &str, end: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries {
            let path = entry.expect("the entry can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == end) {
                let name = path
                    .strip_prefix(root())
                    .expect("it lies below the root")
                    .display()
                    .to_string();
                found.push((name, fs::read_to_string(&path).expect("it is text")));
            }
        }
    }
    found.sort();
    found
}

fn sources() -> Vec<(String, String)> {
    SOURCES.iter().flat_map(|folder| files(folder, "rs")).collect()
}

fn assert_none(wrong: Vec<String>) {
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Layers from the bottom up, one slice a layer: the tables of engine/src/lib.rs and cql-front/src/lib.rs.
const ENGINE: &[&[&str]] = &[
    &["error", "metrics", "trace"],
    &["sim"],
    &["types"],
    &["schema"],
    &["ring"],
    &["settings"],
    &["row"],
    &["commitlog"],
    &["lsm"],
    &["node"],
    &["directory"],
    &["coordinator"],
    &["cluster", "sight"],
];
const FRONT: &[&[&str]] = &[
    &["error", "outcome"],
    &["lexer", "ast", "parser"],
    &["functions"],
    &["plan", "analysis"],
    &["exec"],
    &["cluster", "session"],
    &["script"],
];

/// Imports that go up, and why they may: `(module, imported, reason)`.
const UPWARD: &[(&str, &str, &str)] = &[
    ("error", "ring", "an Unavailable names the consistency level that was asked for"),
    ("error", "ast", "a refusal points at a span and names kinds of literals and features"),
    ("functions", "analysis", "a call's arguments are fitted and printed as every term is"),
];

/// The modules that a line names with `crate::`.
fn named(line: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (at, _) in line.match_indices("crate::") {
        let rest = &line[at + "crate::".len()..];
        let inside = match rest.strip_prefix('{') {
            // `use crate::{a::b, c}`: the word after each brace or comma.
            Some(list) => list.split([',', '}']).map(str::trim).collect::<Vec<_>>(),
            None => vec![rest],
        };
        for path in inside {
            let end = path.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(path.len());
            names.insert(path[..end].to_string());
        }
    }
    names
}

/// Imports of `text` (in module `from`) from layers above; comments and tests do not count.
fn upward(layers: &[&[&str]], from: &str, text: &str) -> Vec<(usize, String)> {
    let level = |name: &str| layers.iter().position(|layer| layer.contains(&name));
    let Some(own) = level(from) else { return Vec::new() };
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if line.starts_with("#[cfg(test)]") {
            break;
        }
        if line.trim_start().starts_with("//") {
            continue;
        }
        let above = named(line).into_iter().filter(|name| level(name).is_some_and(|l| l > own));
        found.extend(above.map(|name| (number + 1, name)));
    }
    found
}

#[test]
fn modules_import_only_from_below() {
    let mut wrong = Vec::new();
    for (folder, layers) in [("engine/src", ENGINE), ("cql-front/src", FRONT)] {
        for (name, text) in files(folder, "rs") {
            let inside = name.strip_prefix(folder).unwrap().trim_start_matches('/');
            let module = inside.split(['/', '.']).next().unwrap();
            for (line, target) in upward(layers, module, &text) {
                if !UPWARD.iter().any(|(from, to, _)| *from == module && *to == target) {
                    wrong.push(format!("{name}:{line}: {module} imports {target} from above"));
                }
            }
        }
    }
    assert_none(wrong);
}

#[test]
fn an_upward_import_is_seen() {
    let text = "use crate::row::Cell;\nuse crate::{types::Value, node::Node};\n// crate::cluster\n";
    assert_eq!(upward(ENGINE, "row", text), [(2, "node".to_string())]);
    assert_eq!(upward(ENGINE, "types", text).len(), 2);
}

/// A module that is in no layer would escape the test above.
#[test]
fn every_module_has_its_layer() {
    for (file, layers) in [("engine/src/lib.rs", ENGINE), ("cql-front/src/lib.rs", FRONT)] {
        let text = fs::read_to_string(root().join(file)).unwrap();
        let declared: BTreeSet<&str> = text
            .lines()
            .filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'))
            .collect();
        let layered: BTreeSet<&str> =
            layers.iter().flat_map(|layer| layer.iter().copied()).collect();
        assert_eq!(declared, layered, "{file}");
    }
}

#[test]
fn every_source_file_has_a_header() {
    let headless = sources().into_iter().filter(|(_, text)| !text.starts_with("//! "));
    assert_none(headless.map(|(name, _)| format!("{name} has no //! header")).collect());
}

#[test]
fn no_source_file_is_too_long() {
    let lengths = sources().into_iter().map(|(name, text)| (name, text.lines().count()));
    let long = lengths.filter(|(_, lines)| *lines > LINES_MAX);
    assert_none(long.map(|(name, lines)| format!("{name} has {lines} lines")).collect());
}

#[test]
fn nothing_is_left_open_ignored_or_asleep() {
    // In two pieces each, so that this file does not name them.
    let banned = [("todo", "!("), ("unimplemented", "!("), ("#[ign", "ore"), ("thread::", "sleep")];
    let mut wrong = Vec::new();
    for (name, text) in sources() {
        for (start, end) in banned {
            let word = format!("{start}{end}");
            if let Some(at) = text.find(&word) {
                let line = text[..at].matches('\n').count() + 1;
                wrong.push(format!("{name}:{line}: {word}"));
            }
        }
    }
    assert_none(wrong);
}

/// Targets of `[text](target)` links, with their lines; code blocks do not count.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut code = false;
    for (number, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            code = !code;
        }
        if code {
            continue;
        }
        for (at, _) in line.match_indices("](") {
            let rest = &line[at + 2..];
            if let Some(end) = rest.find(')') {
                found.push((number + 1, rest[..end].to_string()));
            }
        }
    }
    found
}

#[test]
fn links_in_docs_lead_somewhere() {
    let mut documents = files("docs", "md");
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    documents.push(("README.md".to_string(), readme));
    let mut wrong = Vec::new();
    for (name, text) in &documents {
        let folder = root().join(name).parent().unwrap().to_path_buf();
        for (line, target) in links(text) {
            let path = target.split('#').next().unwrap_or_default();
            if path.is_empty() || path.contains("://") {
                continue;
            }
            if !folder.join(path).exists() {
                wrong.push(format!("{name}:{line}: {target} is not there"));
            }
        }
    }
    assert_none(wrong);
}
