//! Whether a message arrives, and when.
//!
//! ```text
//! coordinator                     link                       replica (a plain function)
//!   send(1, 2, deliver) ------->  no fault: deliver at once ----> reply
//!   .await  <-----------------------------------------------------'
//! ```
//!
//! With no fault in force a message costs a function call: [`Network::send`] delivers on the caller's thread and
//! the future is ready when it is returned. Latency and loss by chance will queue the delivery here, ordered by due time and
//! sequence, and leave the future waiting; no caller changes by it.
//!
//! A message knows no content here: the sender hands in the work that its arrival causes. What is sent to a node that is down,
//! or over a cut link, is [`Lost`]; the sender learns so at once, where a real one would wait for a time-out. A cut has
//! a direction: if only the way back is cut, the work is done and its reply lost, so that a write can time out and be applied.

use parking_lot::{Mutex, RwLock};
use std::collections::BTreeSet;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};

/// A message, or the reply to it, did not arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost;

/// One message that went over a link, as a trace shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Number of the sending node.
    pub from: usize,
    /// Number of the receiving node.
    pub to: usize,
    /// What kind of message (Cassandra's verb: `MUTATION_REQ`).
    pub verb: &'static str,
    /// Whether it, or its reply, was lost.
    pub lost: bool,
}

/// All links between the nodes. Any thread may send at any time.
#[derive(Debug, Default)]
pub struct Network {
    sent: AtomicU64,
    /// Links that carry nothing, from and to.
    cuts: RwLock<BTreeSet<(usize, usize)>>,
    recording: AtomicBool,
    record: Mutex<Vec<Sent>>,
}

impl Network {
    /// Links without faults.
    pub fn new() -> Network {
        Network::default()
    }

    /// Sends a request from one node to another. `deliver` is what its arrival causes, and gives the reply, or `None` if
    /// the receiver is down. A message of a node to itself needs no link and is not counted.
    pub fn send<R>(
        &self,
        from: usize,
        to: usize,
        verb: &'static str,
        deliver: impl FnOnce() -> Option<R>,
    ) -> Sending<R> {
        if from == to {
            return Sending { state: State::Arrived(deliver().ok_or(Lost)) };
        }
        let (is_cut, is_back_cut) = self.cuts_between(from, to);
        let reply = if is_cut { None } else { deliver() };
        let reply = if is_back_cut { None } else { reply };
        self.sent.fetch_add(1 + u64::from(reply.is_some()), Ordering::Relaxed);
        if self.recording.load(Ordering::Relaxed) {
            self.record.lock().push(Sent { from, to, verb, lost: reply.is_none() });
        }
        Sending { state: State::Arrived(reply.ok_or(Lost)) }
    }

    /// Cuts the link from one node to another, in that direction, or heals it.
    pub fn set_cut(&self, from: usize, to: usize, cut: bool) {
        let mut cuts = self.cuts.write();
        match cut {
            true => cuts.insert((from, to)),
            false => cuts.remove(&(from, to)),
        };
    }

    fn cuts_between(&self, from: usize, to: usize) -> (bool, bool) {
        let cuts = self.cuts.read();
        (cuts.contains(&(from, to)), cuts.contains(&(to, from)))
    }

    /// Messages that went over links since the start: requests, and the replies to those that arrived.
    pub fn messages_sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    /// Starts or stops keeping a record of what is sent.
    pub fn set_recording(&self, on: bool) {
        self.recording.store(on, Ordering::Relaxed);
    }

    /// The record since it was last taken.
    pub fn take_record(&self) -> Vec<Sent> {
        std::mem::take(&mut self.record.lock())
    }
}

/// A request on its way; ready once the reply is there or cannot come any more.
#[derive(Debug)]
pub struct Sending<R> {
    state: State<R>,
}

#[derive(Debug)]
enum State<R> {
    Arrived(Result<R, Lost>),
    Taken,
}

impl<R> Sending<R> {
    /// Whether a reply has arrived that was not taken yet.
    pub fn has_reply(&self) -> bool {
        matches!(self.state, State::Arrived(Ok(_)))
    }
}

impl<R> Unpin for Sending<R> {}

impl<R> Future for Sending<R> {
    type Output = Result<R, Lost>;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<R, Lost>> {
        match std::mem::replace(&mut self.state, State::Taken) {
            State::Arrived(result) => Poll::Ready(result),
            State::Taken => panic!("a request was awaited after its reply had been taken"),
        }
    }
}
