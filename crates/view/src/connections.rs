//! The connections that are open, and which of them has to go when there are too many.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::task::AbortHandle;

/// Connections at a time. A browser opens six.
pub(crate) const MOST: usize = 64;
/// How long a client may take to read some of an answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a connection does.
#[derive(Debug)]
pub(crate) struct Activity {
    start: Instant,
    /// When a request had been answered, or some of an answer sent, last, ms after the start.
    last: AtomicU64,
    /// Whether a request is being answered.
    busy: AtomicBool,
}

impl Activity {
    fn new() -> Self {
        Self { start: Instant::now(), last: AtomicU64::new(0), busy: AtomicBool::new(false) }
    }

    /// Answers a request, during which the connection counts as busy.
    pub async fn busy<T>(&self, answer: impl Future<Output = T>) -> T {
        self.busy.store(true, Ordering::Relaxed);
        let answer = answer.await;
        self.touch();
        self.busy.store(false, Ordering::Relaxed);
        answer
    }

    fn touch(&self) {
        let now = self.start.elapsed().as_millis();
        self.last.store(u64::try_from(now).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    fn last(&self) -> Instant {
        self.start + Duration::from_millis(self.last.load(Ordering::Relaxed))
    }

    fn is_busy(&self) -> bool {
        self.busy.load(Ordering::Relaxed)
    }

    /// Ends when the client has not read any of an answer for too long. What it takes for a request is limited by the server.
    pub async fn stalled(&self) {
        loop {
            tokio::time::sleep(PATIENCE / 4).await;
            if !self.is_busy() && self.last().elapsed() > PATIENCE {
                return;
            }
        }
    }
}

/// The open connections, in the order in which they were opened.
#[derive(Debug, Default)]
pub(crate) struct Connections(Mutex<Vec<(Arc<Activity>, AbortHandle)>>);

impl Connections {
    /// Ends once there is room for another connection: there are few, or one of them waits for its client. What makes
    /// all of them busy are answers, which no client can delay, so that this is short.
    pub async fn room(&self) {
        while self.full() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    fn full(&self) -> bool {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|(_, task)| !task.is_finished());
        all.len() >= MOST && all.iter().all(|(activity, _)| activity.is_busy())
    }

    /// Adds a connection; `serve` starts the task that serves it. Where there are too many, the one that has been waiting
    /// for the longest is closed.
    pub fn add(&self, serve: impl FnOnce(Arc<Activity>) -> AbortHandle) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|(_, task)| !task.is_finished());
        if all.len() >= MOST {
            let waiting = all.iter().enumerate().filter(|(_, (activity, _))| !activity.is_busy());
            if let Some((longest, _)) = waiting.min_by_key(|(_, (activity, _))| activity.last()) {
                all.remove(longest).1.abort();
            }
        }
        let activity = Arc::new(Activity::new());
        all.push((Arc::clone(&activity), serve(activity)));
    }
}

/// A stream that notes when something was sent.
#[derive(Debug)]
pub(crate) struct Noted {
    pub stream: TcpStream,
    pub activity: Arc<Activity>,
}

impl AsyncRead for Noted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Noted {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        if matches!(written, Poll::Ready(Ok(n)) if n > 0) {
            self.activity.touch();
        }
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
