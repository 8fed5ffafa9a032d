//! The server on its thread.

use crate::connections::{Activity, Connections, Noted};
use crate::folder::Folder;
use crate::http::{Site, answer};
use crate::{Listen, ViewError};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;

/// How long a client may take for the head of a request, or leave a connection idle.
const PATIENCE: Duration = Duration::from_secs(30);
/// Longest head of a request, bytes.
const LONGEST_HEAD: usize = 16 * 1024;
/// Threads that read files: a browser asks for a frame while the next one is read.
const READERS: usize = 2;

/// A server over the folder of a run. It ends when this is dropped.
#[derive(Debug)]
pub struct Viewer {
    address: SocketAddr,
    host: Option<String>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Viewer {
    /// Serves a folder, which may be that of a run that has not begun.
    ///
    /// # Errors
    /// The address cannot be had.
    pub fn start(folder: &Path, listen: &Listen) -> Result<Self, ViewError> {
        let listener = listen.bind()?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let host = listen.name().map(str::to_owned);
        let site = Arc::new(Site { folder: Folder::new(folder), host: host.clone() });
        let runtime = runtime()?;
        let listener = {
            let _inside = runtime.enter();
            TcpListener::from_std(listener)?
        };
        let (stop, stopped) = oneshot::channel();
        let serve = move || {
            runtime.spawn(accept(listener, site));
            // an error says that the sender is gone, which is the same
            let _ = runtime.block_on(stopped);
            // what still reads a file is not waited for
            runtime.shutdown_background();
        };
        let thread = std::thread::Builder::new().name("viewer".into()).spawn(serve)?;
        Ok(Self { address, host, stop: Some(stop), thread: Some(thread) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What to open in a browser.
    pub fn url(&self) -> String {
        let port = self.address.port();
        match &self.host {
            Some(host) => format!("http://{host}:{port}/"),
            None if self.address.ip().is_unspecified() => format!("http://localhost:{port}/"),
            None => format!("http://{}/", self.address),
        }
    }

    /// Serves until the user ends the program (Ctrl-C), which before this ends it at once.
    ///
    /// # Errors
    /// The system does not tell.
    pub fn until_interrupted(self) -> Result<(), ViewError> {
        Ok(runtime()?.block_on(tokio::signal::ctrl_c())?)
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn runtime() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_all().max_blocking_threads(READERS).build()
}

async fn accept(listener: TcpListener, site: Arc<Site>) {
    let connections = Connections::default();
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // out of files, mostly: others have to be closed first
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        connections.room().await;
        let site = Arc::clone(&site);
        connections.add(|activity| tokio::spawn(serve(stream, site, activity)).abort_handle());
    }
}

/// Answers the requests of one connection.
async fn serve(stream: TcpStream, site: Arc<Site>, activity: Arc<Activity>) {
    let service = service_fn(|request| activity.busy(answer(Arc::clone(&site), request)));
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(PATIENCE);
    // a client that has said all may still listen
    builder.max_buf_size(LONGEST_HEAD).half_close(true);
    let stream = TokioIo::new(Noted { stream, activity: Arc::clone(&activity) });
    let mut served = pin!(builder.serve_connection(stream, service));
    let mut stalled = pin!(activity.stalled());
    // whatever a client does wrong ends its connection alone
    poll_fn(|context| {
        let served = served.as_mut().poll(context).is_ready();
        match served || stalled.as_mut().poll(context).is_ready() {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    })
    .await;
}
