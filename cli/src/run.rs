//! `cassling run FILE...`: scripts on a fresh cluster.

use cassling::script::answer::python_json;
use cassling::script::expect;
use cassling::script::run::{Event, nodes_wanted, with_nodes};
use cassling::script::split::Statement;
use cassling::script::{Answer, Runner, Script, ScriptError, table};
use cassling::{Cluster, ClusterBuilder};
use cassling_engine::node::background::BackgroundMode;
use cassling_engine::settings;
use clap::{Args, ValueEnum};
use serde_json::{Value as Json, json};
use std::io::{self, Read, Write};
use std::process::ExitCode;

/// Options of `run`.
#[derive(Args)]
pub(crate) struct Options {
    /// Scripts; `-` is standard input. All share one cluster and one session
    #[arg(required = true)]
    files: Vec<String>,
    /// How answers are printed
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    /// Number of nodes (one data centre)
    #[arg(long, value_name = "N")]
    nodes: Option<usize>,
    /// Data centres and their nodes
    #[arg(long, value_name = "NAME:N", value_delimiter = ',', conflicts_with = "nodes")]
    dc: Vec<String>,
    /// Seed of tokens, ids and uuids
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Name of the cluster
    #[arg(long, value_name = "NAME", default_value = "oracle")]
    cluster_name: String,
    /// Directory to keep the data in; made if it is not there
    #[arg(long, value_name = "DIR")]
    data: Option<std::path::PathBuf>,
    /// Flush all tables after every write: no answer may change by it
    #[arg(long)]
    flush_after_write: bool,
    /// A setting of cassandra.yaml, as a line of it; several times for several settings
    #[arg(long, value_name = "KEY: VALUE")]
    set: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// As cqlsh prints, errors with carets
    Table,
    /// An object for each statement, in one array; values as text
    Json,
    /// A line for each statement, as the recorder of answers prints them; errors are data
    Jsonl,
}

/// Runs the scripts; gives the exit status.
pub(crate) fn run(options: &Options) -> ExitCode {
    match try_run(options) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(Stop::Closed) => ExitCode::SUCCESS,
        Err(Stop::Usage(reason)) => {
            eprintln!("cassling: {reason}");
            ExitCode::from(2)
        }
    }
}

/// Why a run stops before its end.
enum Stop {
    /// Usage, file, directive.
    Usage(String),
    /// Whoever read our output has gone.
    Closed,
}

impl From<ScriptError> for Stop {
    fn from(error: ScriptError) -> Stop {
        Stop::Usage(error.to_string())
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Stop {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Stop::Closed,
            _ => Stop::Usage(error.to_string()),
        }
    }
}

fn try_run(options: &Options) -> Result<bool, Stop> {
    let scripts = options.files.iter().map(|file| read(file)).collect::<Result<Vec<_>, _>>()?;
    let cluster = cluster(options, &scripts)?;
    let mut runner = Runner::new(&cluster);
    let mut printer = Printer {
        out: io::BufWriter::new(io::stdout().lock()),
        format: options.format,
        statements: 0,
        expectations: 0,
        failures: 0,
        objects: Vec::new(),
    };
    for script in &scripts {
        let mut stop = None;
        let ran = runner.run(script, |event| {
            if stop.is_none() {
                stop = printer.event(script, &event).err();
            }
        });
        if let Some(error) = stop {
            return Err(error.into());
        }
        if let Err(error) = ran {
            printer.finish()?;
            return Err(error.into());
        }
    }
    printer.finish()
}

fn read(file: &str) -> Result<Script, Stop> {
    let fail = |reason: String| Stop::Usage(format!("{file}: {reason}"));
    let bytes = if file == "-" {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes).map_err(|e| fail(e.to_string()))?;
        bytes
    } else {
        if std::path::Path::new(file).is_dir() {
            return Err(fail("is a folder, not a script".to_string()));
        }
        std::fs::read(file).map_err(|e| fail(e.to_string()))?
    };
    let text = String::from_utf8(bytes)
        .map_err(|e| fail(format!("is not valid UTF-8 (byte {})", e.utf8_error().valid_up_to())))?;
    Ok(Script::parse(file, &text)?)
}

fn cluster(options: &Options, scripts: &[Script]) -> Result<Cluster, Stop> {
    let mut builder = Cluster::builder()
        .name(&options.cluster_name)
        .seed(options.seed)
        // As Cassandra does it, on the one thread there is: same seed, same files.
        .background(BackgroundMode::Inline);
    let wanted = nodes_wanted(scripts)?;
    if let Some(nodes) = options.nodes {
        builder = builder.nodes(nodes);
    } else if !options.dc.is_empty() {
        builder = options.dc.iter().try_fold(builder, |builder, dc| datacenter(builder, dc))?;
    } else if let Some(wanted) = &wanted {
        builder = with_nodes(builder, wanted);
    }
    if options.flush_after_write {
        builder = builder.flush_after_write();
    }
    if let Some(data) = &options.data {
        builder = builder.data(data);
    }
    for line in &options.set {
        let (key, value) = settings::split(line)
            .ok_or_else(|| Stop::Usage(format!("--set takes 'KEY: VALUE', not '{line}'")))?;
        builder = builder.setting(key, value);
    }
    builder.build().map_err(|e| Stop::Usage(e.to_string()))
}

fn datacenter(builder: ClusterBuilder, dc: &str) -> Result<ClusterBuilder, Stop> {
    let parsed = dc.split_once(':').and_then(|(name, n)| Some((name, n.parse::<usize>().ok()?)));
    match parsed {
        Some((name, nodes)) if !name.is_empty() && nodes > 0 => {
            Ok(builder.datacenter(name, nodes, 1))
        }
        _ => Err(Stop::Usage(format!("--dc takes NAME:N, not '{dc}'"))),
    }
}

struct Printer<W: Write> {
    out: W,
    format: Format,
    statements: usize,
    expectations: usize,
    failures: usize,
    objects: Vec<Json>,
}

impl<W: Write> Printer<W> {
    fn event(&mut self, script: &Script, event: &Event<'_>) -> io::Result<()> {
        match event {
            Event::Said(text) if self.format == Format::Table => writeln!(self.out, "{text}"),
            Event::Said(_) => Ok(()),
            Event::SsTables { table, count } => self.sstables(table, *count),
            Event::Answered(statement, answer) => self.answered(script, statement, answer),
        }
    }

    fn sstables(&mut self, table: &str, count: usize) -> io::Result<()> {
        match self.format {
            Format::Table => writeln!(self.out, "sstables of {table}: {count}"),
            Format::Json => {
                self.objects.push(json!({"sstables": count}));
                Ok(())
            }
            Format::Jsonl => writeln!(self.out, "{}", python_json(&json!({"sstables": count}))),
        }
    }

    fn answered(
        &mut self,
        script: &Script,
        statement: &Statement,
        answer: &Answer,
    ) -> io::Result<()> {
        let failures = expect::check(answer, &statement.expectations, statement.line);
        self.statements += 1;
        self.expectations += statement.expectations.len();
        match self.format {
            // Errors are data: only a failed expectation counts.
            Format::Jsonl => {
                if !statement.expectations.is_empty() {
                    self.failures += failures.len();
                }
                writeln!(self.out, "{}", python_json(&answer.to_json()))
            }
            Format::Json => {
                self.failures += failures.len();
                self.objects.push(readable(answer));
                Ok(())
            }
            Format::Table => {
                self.failures += failures.len();
                self.table(script, statement, answer)?;
                for (line, reason) in failures {
                    writeln!(self.out, "{}:{line}: {reason}", script.name)?;
                }
                Ok(())
            }
        }
    }

    fn table(&mut self, script: &Script, statement: &Statement, answer: &Answer) -> io::Result<()> {
        write!(self.out, "{}", table::render(answer))?;
        for warning in &answer.warnings {
            writeln!(self.out, "warning: {warning}")?;
        }
        for line in answer.trace.iter().flatten() {
            writeln!(self.out, "trace: {line}")?;
        }
        if let Some(error) = &answer.error {
            let text = table::render_error(&script.name, &script.text, statement, error);
            write!(self.out, "{text}")?;
        }
        Ok(())
    }

    fn finish(mut self) -> Result<bool, Stop> {
        if self.format == Format::Json {
            let all = serde_json::to_string_pretty(&self.objects).map_err(io::Error::from)?;
            writeln!(self.out, "{all}")?;
        }
        self.out.flush()?;
        match self.failures {
            0 if self.format == Format::Table => {
                eprintln!(
                    "cassling: {} statements, {} expectations held",
                    self.statements, self.expectations
                );
            }
            0 => {}
            failures => eprintln!("cassling: {failures} not as expected"),
        }
        Ok(self.failures == 0)
    }
}

/// An answer with values as cqlsh prints them, and its cost.
fn readable(answer: &Answer) -> Json {
    let mut object = answer.to_json();
    if let (Json::Object(fields), Some(columns)) = (&mut object, &answer.columns) {
        let rows = answer.rows.iter().map(|row| {
            let cells = columns.iter().zip(row).map(|((name, ty), value)| {
                let text = value
                    .as_ref()
                    .map(|bytes| cassling_engine::types::display::cqlsh(ty, Some(bytes)));
                (name.clone(), json!(text))
            });
            Json::Object(cells.collect())
        });
        fields.insert("rows".to_string(), Json::from_iter(rows));
    }
    if let Json::Object(fields) = &mut object {
        let cost = answer.cost.named().into_iter().filter(|(_, n)| *n > 0);
        let cost = cost.map(|(name, n)| (name.to_string(), json!(n)));
        fields.insert("cost".to_string(), Json::Object(cost.collect()));
    }
    object
}
