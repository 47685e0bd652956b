//! A statement on its way: a future, and something to wait for without one.

use super::QueryResult;
use crate::error::Error;
use cassling_engine::sim::executor::Task;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

type Answer = Result<QueryResult, Error>;

/// The answer to come of [`super::Session::start`]. Works with and without an async runtime:
/// poll it as a future, or [`Pending::wait`]; both drive every request that is queued.
pub struct Pending {
    state: State,
}

enum State {
    /// Refused before it was queued.
    Refused(Option<Error>),
    Queued(Task<Answer>),
}

impl fmt::Debug for Pending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.state {
            State::Refused(_) => "Pending(refused)",
            State::Queued(_) => "Pending(queued)",
        })
    }
}

impl Pending {
    pub(super) fn refused(error: Error) -> Pending {
        Pending { state: State::Refused(Some(error)) }
    }

    pub(super) fn queued(task: Task<Answer>) -> Pending {
        Pending { state: State::Queued(task) }
    }

    /// Drives the cluster until the answer is there.
    ///
    /// # Errors
    /// As [`super::Session::execute`].
    pub fn wait(self) -> Result<QueryResult, Error> {
        match self.state {
            State::Refused(error) => Err(error.expect("it is taken only once")),
            State::Queued(task) => {
                task.wait().expect("without latency nothing keeps a request waiting")
            }
        }
    }
}

impl Future for Pending {
    type Output = Answer;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Answer> {
        match &mut self.state {
            State::Refused(error) => {
                Poll::Ready(Err(error.take().expect("a future is not polled after it was ready")))
            }
            State::Queued(task) => Pin::new(task).poll(cx),
        }
    }
}
