//! Settings as users meet them: what docs/settings.md says is so, and what does not act is refused.

use cassling::Cluster;
use cassling_engine::settings::{Acts, Settings};

#[test]
fn the_page_lists_every_setting_with_when_it_acts() {
    let page = include_str!("../docs/settings.md");
    let mut wrong = Vec::new();
    for (key, acts) in Settings::KEYS {
        let word = match acts {
            Acts::AtOnce => "| at once |",
            Acts::WhenBuilt => "| when built |",
            Acts::NotYet => "| not yet |",
        };
        let row = page.lines().find(|line| line.contains(&format!("`{key}`")));
        if !row.is_some_and(|row| row.contains(word)) {
            wrong.push(format!("{key} needs a row with {word}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_has_no_effect_is_refused() {
    for (key, acts) in Settings::KEYS {
        let built = Cluster::builder().setting(key, "?").build();
        let error = built.expect_err("no setting takes a question mark").to_string();
        let part = if *acts == Acts::NotYet { "does not support" } else { "takes" };
        assert!(error.contains(part) || key.starts_with("table_properties"), "{key}: {error}");
    }
    let error = Cluster::builder().setting("phi", "8").build().unwrap_err().to_string();
    assert_eq!(
        error,
        "cassling does not support the setting phi: docs/settings.md lists those it knows"
    );
}
