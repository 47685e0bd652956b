//! What a node would write to its log: a bounded list that tests and users read.

use parking_lot::Mutex;
use std::collections::VecDeque;

/// Events that are kept; the oldest go first.
const EVENTS_MAX: usize = 1_000;

/// Something that happened on a node and that no request was told of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// When, milliseconds since the Unix epoch.
    pub at_millis: i64,
    /// What, in Cassandra's words where it has any.
    pub text: String,
}

/// The last events of a node. Any thread may use it.
#[derive(Debug, Default)]
pub(crate) struct Events {
    held: Mutex<VecDeque<Event>>,
}

impl Events {
    pub(crate) fn push(&self, event: Event) {
        let mut held = self.held.lock();
        if held.len() == EVENTS_MAX {
            held.pop_front();
        }
        held.push_back(event);
    }

    /// All that are kept, oldest first.
    pub(crate) fn all(&self) -> Vec<Event> {
        self.held.lock().iter().cloned().collect()
    }
}
