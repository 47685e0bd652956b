//! The baselines: `benches/limits`, a workspace of its own, built as it is and asked by name.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The built program.
#[derive(Debug)]
pub struct Limits {
    binaries: PathBuf,
}

/// Operations between the two counts of instructions that are subtracted: those of `insn.sh`.
const INSTRUCTION_COUNTS: (u64, u64) = (10_000, 20_000);

impl Limits {
    /// Builds it, in a target folder of its own under `target`.
    ///
    /// # Errors
    /// If cargo fails.
    pub fn build(target: &Path) -> Result<Limits, String> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let folder = target.join("limits");
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.args(["build", "--release", "--locked", "--quiet", "--manifest-path"]);
        cargo.arg(root.join("limits/Cargo.toml")).arg("--target-dir").arg(&folder);
        let status = cargo.status().map_err(|e| format!("cargo cannot be run: {e}"))?;
        match status.success() {
            true => Ok(Limits { binaries: folder.join("release") }),
            false => Err(format!("benches/limits was not built: {status}")),
        }
    }

    /// One run of the measurement that `name` belongs to: the figures of all its names. It waits for quiet itself.
    ///
    /// # Errors
    /// If it fails, or does not know the name.
    pub fn ask(&self, name: &str, dir: &Path) -> Result<BTreeMap<String, f64>, String> {
        let mut limits = Command::new(self.binaries.join("limits"));
        limits.args([name, "--runs", "1", "--tsv", "--dir"]).arg(dir);
        let output = limits.output().map_err(|e| format!("limits cannot be run: {e}"))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let figures: BTreeMap<String, f64> = text
            .lines()
            .filter_map(|line| {
                let (name, rest) = line.split_once('\t')?;
                Some((name.to_string(), rest.split('\t').next()?.parse().ok()?))
            })
            .collect();
        match figures.contains_key(name) {
            true => Ok(figures),
            false => Err(format!("limits gave no figure for {name}: {text}")),
        }
    }

    /// Instructions for each operation of its program `insn`.
    ///
    /// # Errors
    /// If valgrind fails.
    pub fn instructions(&self, what: &str) -> Result<f64, String> {
        instructions(|count| {
            let mut command = vec![self.binaries.join("insn").into_os_string()];
            command.extend([what.into(), count.to_string().into()]);
            command
        })
    }
}

/// Instructions for each operation of a program that does as many as it is told, whatever it does beside them.
///
/// # Errors
/// If valgrind fails.
pub fn instructions(command: impl Fn(u64) -> Vec<std::ffi::OsString>) -> Result<f64, String> {
    let (few, many) = INSTRUCTION_COUNTS;
    let difference = executed(&command(many))? - executed(&command(few))?;
    Ok(difference / (many - few) as f64)
}

fn executed(command: &[std::ffi::OsString]) -> Result<f64, String> {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]);
    let output = valgrind.args(command).output();
    let output = output.map_err(|e| format!("valgrind cannot be run: {e}"))?;
    let text = String::from_utf8_lossy(&output.stderr);
    let line = text.lines().find(|line| line.contains("refs:"));
    let number = line.and_then(|line| line.split_whitespace().last());
    let number = number.and_then(|word| word.replace(',', "").parse().ok());
    number.ok_or_else(|| format!("valgrind counted nothing: {text}"))
}
