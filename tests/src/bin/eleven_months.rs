//! The story of `cassling_tests::eleven_months`, printed as a table: `cargo run --release -p cassling-tests --bin eleven_months [-- SCALE]`.
//!
//! SCALE 20 (the default) makes one of twenty scans: about 2,000 a day, 670,000 in all.

use cassling_tests::eleven_months::{Asked, Look, Month, tell};
use peak_alloc::PeakAlloc;
use std::process::ExitCode;

/// The same counters as the story's `MEMORY`: the crate keeps them for the whole process.
#[global_allocator]
static COUNTED: PeakAlloc = PeakAlloc;

fn main() -> ExitCode {
    let scale = match std::env::args().nth(1).map(|text| text.parse::<u32>()) {
        None => 20,
        Some(Ok(scale)) if scale > 0 => scale,
        Some(_) => {
            eprintln!(
                "eleven_months takes one number above 0: the scale, 20 for one scan of twenty"
            );
            return ExitCode::from(2);
        }
    };
    println!("scale 1:{scale}; in memory, LZ4, one flush a day, compaction after each flush");
    println!(
        "days\tschema\tQ1 rows\tQ1 blocks\tQ2 rows\tQ2 blocks\tQ3 rows\tQ3 blocks\tunbounded rows\tits peak bytes\t\
         largest partition\tsstables\tdisk bytes\tflushed\trewritten\tdropped whole"
    );
    match tell(scale, print) {
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("eleven_months: {error}");
            ExitCode::FAILURE
        }
    }
}

fn print(month: &Month) {
    for (schema, look) in [("before", &month.before), ("after", &month.after)] {
        let Look { latest, day, facility, unbounded, .. } = look;
        let asked = |a: &Asked| format!("{}\t{}", a.rows_read, a.blocks);
        println!(
            "{}\t{schema}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}",
            month.days,
            asked(latest),
            asked(day),
            asked(facility),
            unbounded.rows_read,
            unbounded.peak_bytes,
            look.largest_partition_bytes,
            look.sstables,
            look.disk_bytes,
            look.flushed_bytes,
            look.rewritten_bytes,
            look.dropped
        );
    }
}
