//! Who runs next: a deterministic executor for requests in flight.
//!
//! Requests are futures; whoever waits for one lends its thread and drives all of them:
//!
//! ```text
//! start(a)  start(b)          two tasks, queued in this order
//! a.wait()  -> poll a: pending (a message is late)
//!              poll b: ready, its waiter is woken
//!              nothing can run: the caller lets time jump, which wakes a
//!              poll a: ready
//! ```
//!
//! Tasks are polled in the order in which they were started, each once a round, only if something woke it. Wakers
//! are kept and called, so a request can also be awaited under any other runtime: polling a [`Task`] drives the
//! queue as far as it goes, and a task finished by another caller wakes the one that waits for it. One lock is
//! held while driving, so tasks never run side by side (mode `simulated`); mode `parallel` does without this file.
//!
//! Not here: time. Moving the clock when nothing can run is the caller's part ([`Executor::drive_until`] says so by
//! returning `false`).

use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

type Job = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The queue of tasks. Any thread may start and drive; one drives at a time.
#[derive(Default)]
pub struct Executor {
    queue: Mutex<Queue>,
    /// Held while tasks are polled. Never taken by a task itself.
    driving: Mutex<()>,
}

#[derive(Default)]
struct Queue {
    /// Tasks by the number of their start. A task that is being polled is taken out of its entry.
    tasks: BTreeMap<u64, Entry>,
    next: u64,
}

struct Entry {
    job: Option<Job>,
    flag: Arc<Flag>,
}

/// The waker of one task: says that it can go on.
struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

impl std::fmt::Debug for Executor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Executor").field("tasks", &self.queue.lock().tasks.len()).finish()
    }
}

impl Executor {
    /// An empty queue.
    pub fn new() -> Arc<Executor> {
        Arc::new(Executor::default())
    }

    /// Queues `future`; it runs when somebody drives.
    pub fn start<T: Send + 'static>(
        self: &Arc<Self>,
        future: impl Future<Output = T> + Send + 'static,
    ) -> Task<T> {
        let slot = Arc::new(Mutex::new(Slot { value: None, taken: false, waiter: None }));
        let answer = Arc::clone(&slot);
        let job = Box::pin(async move {
            let value = future.await;
            let mut slot = answer.lock();
            slot.value = Some(value);
            if let Some(waiter) = slot.waiter.take() {
                waiter.wake();
            }
        });
        let mut queue = self.queue.lock();
        let number = queue.next;
        queue.next += 1;
        queue
            .tasks
            .insert(number, Entry { job: Some(job), flag: Arc::new(Flag(AtomicBool::new(true))) });
        Task { executor: Arc::clone(self), slot }
    }

    /// Runs `future` to its answer on the caller's stack, in turn with the queued tasks, which come first as they
    /// were started before. With no task queued and no fault in force this is one poll and no allocation.
    /// `None` if nothing can run and the answer is not there.
    /// Requires: not called from inside a task.
    pub fn run<T>(&self, future: impl Future<Output = T>) -> Option<T> {
        let mut future = std::pin::pin!(future);
        let driving = self.driving.lock();
        if self.is_empty()
            && let Poll::Ready(answer) = poll_once(future.as_mut())
        {
            drop(driving);
            self.leave_nothing_behind();
            return Some(answer);
        }
        drop(driving);
        let flag = Arc::new(Flag(AtomicBool::new(true)));
        let waker = Waker::from(Arc::clone(&flag));
        loop {
            let driving = self.driving.lock();
            let ran = self.round();
            if flag.0.swap(false, Ordering::SeqCst)
                && let Poll::Ready(answer) = future.as_mut().poll(&mut Context::from_waker(&waker))
            {
                drop(driving);
                self.leave_nothing_behind();
                return Some(answer);
            }
            drop(driving);
            if !ran && !self.has_runnable() && !flag.0.load(Ordering::SeqCst) {
                return None;
            }
        }
    }

    /// Polls tasks, in order and round after round, until `done` holds or nothing can run. Returns whether `done` holds;
    /// `false` means that only time, or another thread, can help.
    /// Requires: not called from inside a task.
    pub fn drive_until(&self, mut done: impl FnMut() -> bool) -> bool {
        loop {
            if done() {
                self.leave_nothing_behind();
                return true;
            }
            let driving = self.driving.lock();
            let ran = self.round();
            drop(driving);
            if !ran && !self.has_runnable() {
                return done();
            }
        }
    }

    /// Polls until nothing can run.
    /// Requires: not called from inside a task.
    pub fn drive(&self) {
        self.drive_until(|| false);
    }

    /// Tasks not finished yet.
    pub fn len(&self) -> usize {
        self.queue.lock().tasks.len()
    }

    /// Whether all tasks are finished.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// As [`Executor::drive`], but leaves the work to whoever is driving already. Whoever drives looks at the
    /// queue once more after letting go, so that no task is left behind between the two.
    fn drive_if_free(&self) {
        while let Some(driving) = self.driving.try_lock() {
            let ran = self.round();
            drop(driving);
            if !ran && !self.has_runnable() {
                return;
            }
        }
    }

    /// Called by whoever has driven and goes: a task that was started in the last moment found the place taken
    /// and went to sleep, so it must be driven from here.
    fn leave_nothing_behind(&self) {
        if self.has_runnable() {
            self.drive_if_free();
        }
    }

    fn has_runnable(&self) -> bool {
        self.queue.lock().tasks.values().any(|e| e.job.is_some() && e.flag.0.load(Ordering::SeqCst))
    }

    /// Polls each task that was woken once, in order. Requires: `driving` is held.
    fn round(&self) -> bool {
        let mut ran = false;
        let mut after = None;
        while let Some((number, mut job, flag)) = self.take_next(after) {
            after = Some(number);
            ran = true;
            let waker = Waker::from(flag);
            let finished = job.as_mut().poll(&mut Context::from_waker(&waker)).is_ready();
            let mut queue = self.queue.lock();
            if finished {
                queue.tasks.remove(&number);
            } else if let Some(entry) = queue.tasks.get_mut(&number) {
                entry.job = Some(job);
            }
        }
        ran
    }

    /// The first woken task after number `after`, taken out of the queue so that no lock is held while it is polled.
    fn take_next(&self, after: Option<u64>) -> Option<(u64, Job, Arc<Flag>)> {
        let from = after.map_or(0, |number| number + 1);
        for (number, entry) in self.queue.lock().tasks.range_mut(from..) {
            if entry.job.is_some() && entry.flag.0.swap(false, Ordering::SeqCst) {
                let job = entry.job.take().expect("just looked at");
                return Some((*number, job, Arc::clone(&entry.flag)));
            }
        }
        None
    }
}

/// Polls without a waker, for a future that is expected to be ready. One that is not is polled again with its own.
pub fn poll_once<T>(future: Pin<&mut impl Future<Output = T>>) -> Poll<T> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

struct Slot<T> {
    value: Option<T>,
    taken: bool,
    waiter: Option<Waker>,
}

/// A started request: a future that drives the queue whenever it is polled. Dropped, the request runs on.
pub struct Task<T> {
    executor: Arc<Executor>,
    slot: Arc<Mutex<Slot<T>>>,
}

impl<T> std::fmt::Debug for Task<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Task").field("finished", &self.is_finished()).finish()
    }
}

impl<T> Task<T> {
    /// Whether the answer is there.
    pub fn is_finished(&self) -> bool {
        let slot = self.slot.lock();
        slot.taken || slot.value.is_some()
    }

    /// Drives the queue until this answer is there; `None` if nothing can run and it is not
    /// (time has to move), or if it was taken before.
    /// Requires: not called from inside a task.
    pub fn wait(&self) -> Option<T> {
        self.executor.drive_until(|| self.is_finished());
        self.take()
    }

    fn take(&self) -> Option<T> {
        let mut slot = self.slot.lock();
        let value = slot.value.take();
        slot.taken |= value.is_some();
        value
    }
}

impl<T> Future for Task<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        // The waiter is registered before driving: if another caller finishes the task in between, it wakes us.
        self.slot.lock().waiter = Some(context.waker().clone());
        self.executor.drive_if_free();
        match self.take() {
            Some(value) => Poll::Ready(value),
            None => Poll::Pending,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;

    /// Pending once, then ready.
    async fn once_around() {
        let mut first = true;
        poll_fn(move |context| {
            if std::mem::take(&mut first) {
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            Poll::Ready(())
        })
        .await;
    }

    #[test]
    fn tasks_take_turns_in_the_order_of_their_start() {
        let executor = Executor::new();
        let log = Arc::new(Mutex::new(Vec::new()));
        let tasks: Vec<Task<()>> = ["a", "b"]
            .into_iter()
            .map(|name| {
                let log = Arc::clone(&log);
                executor.start(async move {
                    for step in 0..3 {
                        log.lock().push(format!("{name}{step}"));
                        once_around().await;
                    }
                })
            })
            .collect();
        assert_eq!(tasks[1].wait(), Some(()));
        assert_eq!(*log.lock(), ["a0", "b0", "a1", "b1", "a2", "b2"]);
        assert!(tasks[0].is_finished() && executor.is_empty());
    }

    #[test]
    fn a_task_that_nothing_wakes_is_reported_and_goes_on_when_woken() {
        let executor = Executor::new();
        let gate: Arc<Mutex<(bool, Option<Waker>)>> = Arc::default();
        let inside = Arc::clone(&gate);
        let task = executor.start(poll_fn(move |context| {
            let mut gate = inside.lock();
            gate.1 = Some(context.waker().clone());
            if gate.0 { Poll::Ready(7) } else { Poll::Pending }
        }));
        assert_eq!(task.wait(), None);
        gate.lock().0 = true;
        assert_eq!(task.wait(), None, "nobody woke it");
        gate.lock().1.take().unwrap().wake();
        assert_eq!(task.wait(), Some(7));
    }
}
