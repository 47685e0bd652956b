//! Runs random histories against the plain model: `cargo run -p cassling-tests --bin model -- [COUNT [FIRST_SEED]]`.

use cassling_tests::model::{Shares, check};

fn main() -> Result<(), String> {
    let mut numbers =
        std::env::args().skip(1).map(|a| a.parse::<u64>().map_err(|e| format!("{a}: {e}")));
    let count = numbers.next().transpose()?.unwrap_or(50_000);
    let first = numbers.next().transpose()?.unwrap_or(1_000_000);
    let mut shares = Shares::default();
    let mut failed = 0;
    for seed in first..first + count {
        if let Err(difference) = check(std::iter::once(seed), &mut shares) {
            println!("{difference}\n");
            failed += 1;
        }
    }
    println!("{count} histories from seed {first}, {failed} differ\n{shares}");
    if failed > 0 { Err(format!("{failed} histories differ")) } else { Ok(()) }
}
