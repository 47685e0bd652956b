//! Work that nobody waits for: compaction after a flush. Who does it, and when (contracts.md 18).
//!
//! ```text
//! held      nobody, until told: Cluster::run_until_idle, compact        a test sees the state it wants
//! inline    whoever flushed, before the flush returns                   scripts, loads: one thread, same seed same files
//! threads   workers, side by side with requests                         a server
//! ```
//!
//! [`Workers`] are real threads and exist on no platform without them. They are joined when their cluster goes, and a
//! panic of one comes out there: nothing is lost silently.

#[cfg(not(target_arch = "wasm32"))]
pub(crate) use threads::Queue;
#[cfg(not(target_arch = "wasm32"))]
pub use threads::Workers;

/// Who compacts after a flush.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BackgroundMode {
    /// Nobody, until told.
    #[default]
    Held,
    /// Whoever flushed.
    Inline,
    /// So many worker threads of the cluster.
    #[cfg(not(target_arch = "wasm32"))]
    Threads(usize),
}

#[cfg(not(target_arch = "wasm32"))]
mod threads {
    use crate::node::Node;
    use crate::schema::TableId;
    use parking_lot::{Condvar, Mutex};
    use std::collections::VecDeque;
    use std::sync::{Arc, Weak};
    use std::thread::JoinHandle;

    /// Tables to be looked at, in order.
    #[derive(Debug, Default)]
    pub(crate) struct Queue {
        state: Mutex<State>,
        /// Something came, or the end.
        woken: Condvar,
        /// A worker has nothing to do.
        idle: Condvar,
    }

    #[derive(Debug, Default)]
    struct State {
        waiting: VecDeque<(Weak<Node>, TableId)>,
        busy: usize,
        /// Workers that have not panicked.
        alive: usize,
        ended: bool,
    }

    impl Queue {
        /// Has a table looked at; once, if it is waiting already.
        pub(crate) fn push(&self, node: Weak<Node>, table: TableId) {
            let mut state = self.state.lock();
            let known = |(other, id): &(Weak<Node>, TableId)| *id == table && other.ptr_eq(&node);
            if !state.ended && !state.waiting.iter().any(known) {
                state.waiting.push_back((node, table));
                self.woken.notify_one();
            }
        }

        /// Works until the end.
        fn work(&self) {
            loop {
                let mut state = self.state.lock();
                let next = loop {
                    if state.ended {
                        return;
                    }
                    match state.waiting.pop_front() {
                        Some(next) => break next,
                        None => self.woken.wait(&mut state),
                    }
                };
                state.busy += 1;
                drop(state);
                let _busy = Busy(self);
                if let Some(node) = next.0.upgrade() {
                    node.look_at(next.1);
                }
            }
        }
    }

    /// A worker at work; one that panics is at work no more.
    struct Busy<'q>(&'q Queue);

    impl Drop for Busy<'_> {
        fn drop(&mut self) {
            let mut state = self.0.state.lock();
            state.busy -= 1;
            state.alive -= usize::from(std::thread::panicking());
            self.0.idle.notify_all();
        }
    }

    /// Worker threads of a cluster. Dropping them ends and joins them.
    #[derive(Debug)]
    pub struct Workers {
        queue: Arc<Queue>,
        threads: Vec<JoinHandle<()>>,
    }

    impl Workers {
        /// Starts so many threads, at least one.
        ///
        /// # Errors
        /// The system gives no thread.
        pub fn start(count: usize) -> std::io::Result<Workers> {
            let mut workers = Workers { queue: Arc::default(), threads: Vec::new() };
            workers.queue.state.lock().alive = count.max(1);
            for number in 0..count.max(1) {
                let queue = Arc::clone(&workers.queue);
                let name = format!("cassling-compaction-{}", number + 1);
                let thread = std::thread::Builder::new().name(name).spawn(move || queue.work())?;
                workers.threads.push(thread);
            }
            Ok(workers)
        }

        pub(crate) fn queue(&self) -> &Arc<Queue> {
            &self.queue
        }

        /// Waits until nothing is waiting and nothing is being done, or all workers have panicked.
        pub fn wait_until_idle(&self) {
            let mut state = self.queue.state.lock();
            while state.busy > 0 || (!state.waiting.is_empty() && state.alive > 0) {
                self.queue.idle.wait(&mut state);
            }
        }
    }

    impl Drop for Workers {
        fn drop(&mut self) {
            self.queue.state.lock().ended = true;
            self.queue.woken.notify_all();
            for thread in self.threads.drain(..) {
                if let Err(panic) = thread.join()
                    && !std::thread::panicking()
                {
                    std::panic::resume_unwind(panic);
                }
            }
        }
    }
}
