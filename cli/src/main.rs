//! The commands of `cassling`.
//!
//! `run` runs scripts on a fresh cluster in this process. Exit status (contracts.md 10): 0 when all expectations held,
//! 1 when one failed or an error came that nobody expected, 2 for usage, a bad file or directive. `dump` prints the SSTables of a
//! data directory.

mod dump;
mod run;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "cassling", version, about = "A small, honest Cassandra in one process")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run scripts of CQL on a fresh in-memory cluster, and check what they expect
    Run(run::Options),
    /// Print the SSTables of a data directory as JSON, or their metadata
    Dump(dump::Options),
}

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Run(options) => run::run(&options),
        Command::Dump(options) => dump::run(&options),
    }
}
