//! Files of a folder.
//!
//! Reads are positioned, so that any number of threads read one file at once. Open files are kept, the most recently
//! used of them; one that was removed or renamed is closed first.

use super::{DISK_FULL, Disk, DiskCounters, ENDS_BEFORE, missing, storage};
use crate::error::Error;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The files of one folder. Two disks on one folder know nothing of each other: see `LOCK` of a data directory.
#[derive(Debug)]
pub struct DirectoryDisk {
    folder: PathBuf,
    open: Mutex<OpenFiles>,
    reads: AtomicU64,
    bytes_read: AtomicU64,
}

/// Open files by name, each with when it was last used.
#[derive(Debug, Default)]
struct OpenFiles {
    files: BTreeMap<String, (u64, Arc<File>)>,
    uses: u64,
}

/// Files kept open: far below what a process may have (1,024 by default on Linux), with several nodes in one.
const OPEN_FILES_MAX: usize = 64;

impl DirectoryDisk {
    /// The folder, made if it is not there.
    ///
    /// # Errors
    /// [`Error::Storage`] if it cannot be made or is no folder.
    pub fn new(folder: &Path) -> Result<DirectoryDisk, Error> {
        let disk = DirectoryDisk::existing(folder);
        fs::create_dir_all(folder).map_err(|e| disk.failed("", 0, &e))?;
        Ok(disk)
    }

    /// The folder as it is: nothing is made before the first append.
    pub fn existing(folder: &Path) -> DirectoryDisk {
        DirectoryDisk {
            folder: folder.to_path_buf(),
            open: Mutex::new(OpenFiles::default()),
            reads: AtomicU64::new(0),
            bytes_read: AtomicU64::new(0),
        }
    }

    fn failed(&self, name: &str, offset_bytes: u64, error: &io::Error) -> Error {
        let path = self.folder.join(name).display().to_string();
        match error.kind() {
            ErrorKind::NotFound => missing(&path),
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
                storage(&path, offset_bytes, DISK_FULL)
            }
            ErrorKind::UnexpectedEof => storage(&path, offset_bytes, ENDS_BEFORE),
            _ => storage(&path, offset_bytes, &error.to_string()),
        }
    }

    /// The file, open for reading and appending; made if `create`.
    fn file(&self, name: &str, create: bool) -> io::Result<Arc<File>> {
        let mut open = self.open.lock();
        open.uses += 1;
        let now = open.uses;
        if let Some((used, file)) = open.files.get_mut(name) {
            *used = now;
            return Ok(Arc::clone(file));
        }
        let path = self.folder.join(name);
        let mut options = File::options();
        let file = Arc::new(options.read(true).append(true).create(create).open(path)?);
        if open.files.len() >= OPEN_FILES_MAX {
            let oldest = open.files.iter().min_by_key(|(_, (used, _))| *used);
            let oldest = oldest.map(|(name, _)| name.clone()).expect("there are open files");
            open.files.remove(&oldest);
        }
        open.files.insert(name.to_string(), (now, Arc::clone(&file)));
        Ok(file)
    }

    fn close(&self, name: &str) {
        self.open.lock().files.remove(name);
    }
}

impl Disk for DirectoryDisk {
    fn append(&self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        let file = self.file(name, true).map_err(|e| self.failed(name, 0, &e))?;
        let Err((written, error)) = write_all(&file, bytes) else { return Ok(()) };
        // The file ends where it ended before, so that nothing of a refused append is kept and the next one fits on.
        let size = file.metadata().map_or(0, |m| m.len());
        let end = size.saturating_sub(written);
        if written > 0 {
            file.set_len(end).map_err(|e| self.failed(name, end, &e))?;
        }
        Err(self.failed(name, end, &error))
    }

    fn read_at(&self, name: &str, offset_bytes: u64, len: usize) -> Result<Arc<[u8]>, Error> {
        let failed = |e: io::Error| self.failed(name, offset_bytes, &e);
        let file = self.file(name, false).map_err(failed)?;
        // A damaged length must not make us ask for more memory than the file could fill.
        let size = file.metadata().map_err(failed)?.len();
        if offset_bytes.checked_add(len as u64).is_none_or(|end| end > size) {
            return Err(failed(ErrorKind::UnexpectedEof.into()));
        }
        let mut bytes = vec![0; len];
        read_exact_at(&file, &mut bytes, offset_bytes).map_err(failed)?;
        self.reads.fetch_add(1, Relaxed);
        self.bytes_read.fetch_add(len as u64, Relaxed);
        Ok(Arc::from(bytes))
    }

    fn size_bytes(&self, name: &str) -> Result<u64, Error> {
        let metadata = fs::metadata(self.folder.join(name));
        metadata.map(|m| m.len()).map_err(|e| self.failed(name, 0, &e))
    }

    fn sync(&self, name: &str) -> Result<(), Error> {
        let synced = self.file(name, false).and_then(|file| file.sync_data());
        synced.map_err(|e| self.failed(name, 0, &e))
    }

    fn sync_names(&self) -> Result<(), Error> {
        sync_folder(&self.folder).map_err(|e| self.failed("", 0, &e))
    }

    fn rename(&self, from: &str, to: &str) -> Result<(), Error> {
        self.close(from);
        self.close(to);
        let renamed = fs::rename(self.folder.join(from), self.folder.join(to));
        renamed.map_err(|e| self.failed(from, 0, &e))
    }

    fn delete(&self, name: &str) -> Result<(), Error> {
        self.close(name);
        match fs::remove_file(self.folder.join(name)) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(self.failed(name, 0, &error)),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    fn list(&self, prefix: &str) -> Result<Vec<String>, Error> {
        let failed = |e: io::Error| self.failed("", 0, &e);
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with(prefix) && entry.file_type().map_err(failed)?.is_file() {
                names.push(name);
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    fn counters(&self) -> DiskCounters {
        DiskCounters { reads: self.reads.load(Relaxed), bytes_read: self.bytes_read.load(Relaxed) }
    }
}

/// Writes all of `bytes`; a failure says how many were written before it.
fn write_all(mut file: &File, bytes: &[u8]) -> Result<(), (u64, io::Error)> {
    let mut written = 0;
    while written < bytes.len() {
        match file.write(&bytes[written..]) {
            Ok(0) => return Err((written as u64, ErrorKind::WriteZero.into())),
            Ok(n) => written += n,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err((written as u64, error)),
        }
    }
    Ok(())
}

#[cfg(unix)]
fn read_exact_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, offset)
}

#[cfg(not(unix))]
fn read_exact_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    use std::io::{Read, Seek, SeekFrom};
    // A handle of its own has a position of its own only if it is opened anew; one lock for all is enough here.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _one = ONE_AT_A_TIME.lock();
    let mut file = file;
    file.seek(SeekFrom::Start(offset))?;
    file.read_exact(bytes)
}

#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Elsewhere a folder cannot be opened as a file; the system keeps names by itself.
#[cfg(not(unix))]
fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}
