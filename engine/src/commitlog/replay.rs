//! Reading a log again.
//!
//! Only the last segment may end in the middle of a record: the one before was synced before it was begun. What follows the
//! last valid record there was never synced, so it is cut off. A damaged record with a valid one behind it is something
//! else: bytes that were written have changed, and what they said would be missing, so opening refuses.

use super::record::{self, HEADER_BYTES, Header, Times};
use super::{LogPosition, NAME_PREFIX, segment_name};
use crate::error::Error;
use crate::sim::disk::{Disk, read_file};
use crate::sim::faults::{Fault, planted};

/// What was found in a log.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// Segments that are there, with their bytes (without a torn tail), by number.
    pub segments: Vec<(u32, u64)>,
    /// The torn tail, if there is one.
    pub cut: Option<Cut>,
    /// The latest times that a record names.
    pub times: Times,
    /// Records that were read.
    pub records: u64,
}

/// A torn tail of the last segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The segment's file.
    pub file: String,
    /// What is kept of it; 0: nothing, not even its header was whole.
    pub kept_bytes: u64,
    /// What is cut off.
    pub lost_bytes: u64,
}

/// Reads every segment; gives each record's place and mutation to `each`. Nothing is written.
///
/// # Errors
/// [`Error::Storage`] with file and offset of a record that is damaged (not torn), and whatever `each` refuses.
pub fn replay(
    disk: &dyn Disk,
    mut each: impl FnMut(LogPosition, &[u8]) -> Result<(), Error>,
) -> Result<Replayed, Error> {
    let mut numbers = Vec::new();
    for name in disk.list(NAME_PREFIX)? {
        let number = name[NAME_PREFIX.len()..].strip_suffix(".log").and_then(|n| n.parse().ok());
        // Others are leftovers: the unfinished copy of a cut segment.
        numbers.extend(number.filter(|number| segment_name(*number) == name));
    }
    numbers.sort_unstable();
    let mut found = Replayed { segments: Vec::new(), cut: None, times: Times::NONE, records: 0 };
    let last = numbers.last().copied();
    for number in numbers {
        let name = segment_name(number);
        let bytes = read_file(disk, &name)?;
        let end = read_segment(&name, number, &bytes, &mut found, &mut each)?;
        if end < bytes.len() {
            check_torn(&name, number, &bytes, end, Some(number) == last)?;
            let lost_bytes = (bytes.len() - end) as u64;
            found.cut = Some(Cut { file: name, kept_bytes: end as u64, lost_bytes });
        }
        found.segments.push((number, end as u64));
    }
    Ok(found)
}

/// Reads the valid records that a segment begins with; gives where they end.
fn read_segment(
    name: &str,
    number: u32,
    bytes: &[u8],
    found: &mut Replayed,
    each: &mut impl FnMut(LogPosition, &[u8]) -> Result<(), Error>,
) -> Result<usize, Error> {
    match record::read_header(bytes, number) {
        Header::Good => {}
        Header::Bad => return Ok(0),
        Header::Version(version) => {
            let reason = format!("version {version} of the commit log is not known");
            return Err(Error::Storage { file: name.to_string(), offset_bytes: 4, reason });
        }
    }
    let mut at = LogPosition { segment: number, offset: HEADER_BYTES };
    while let Some(record) = record::read(bytes, at) {
        found.times = found.times.max(record.times);
        found.records += 1;
        if !(planted(Fault::ReplaySkipsRecord) && found.records.is_multiple_of(7)) {
            each(at, record.mutation)?;
        }
        at.offset =
            u32::try_from(record.end).map_err(|_| damaged(name, at.offset, "it is too long"))?;
    }
    Ok(at.offset as usize)
}

/// Whether what follows `end` may be cut off.
fn check_torn(
    name: &str,
    number: u32,
    bytes: &[u8],
    end: usize,
    is_last: bool,
) -> Result<(), Error> {
    let offset = u32::try_from(end).unwrap_or(u32::MAX);
    if !is_last {
        return Err(damaged(name, offset, "the record is damaged, and a later segment follows"));
    }
    let behind = (end + 1..bytes.len()).find(|at| {
        let offset = u32::try_from(*at).unwrap_or(u32::MAX);
        record::read(bytes, LogPosition { segment: number, offset }).is_some()
    });
    match behind {
        None => Ok(()),
        Some(at) => {
            let reason = format!("the record is damaged, and a whole one follows at byte {at}");
            Err(damaged(name, offset, &reason))
        }
    }
}

fn damaged(name: &str, offset: u32, reason: &str) -> Error {
    Error::Storage {
        file: name.to_string(),
        offset_bytes: offset.into(),
        reason: reason.to_string(),
    }
}
