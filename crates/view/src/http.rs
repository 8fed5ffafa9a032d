//! Requests and answers.

use crate::answer::Answer;
use crate::assets;
use crate::error::RequestError;
use crate::folder::Folder;
use crate::host;
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{
    ALLOW, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue,
    X_CONTENT_TYPE_OPTIONS,
};
use hyper::{Method, Request, Response, StatusCode};
use std::convert::Infallible;
use std::sync::Arc;

/// What is served.
#[derive(Debug)]
pub(crate) struct Site {
    pub folder: Folder,
    /// The name that it was told to listen on.
    pub host: Option<String>,
}

/// Nothing from elsewhere is loaded, and only pages of this machine (a notebook) may show this one inside.
const POLICY: &str = "default-src 'self'; img-src 'self' blob: data:; style-src 'self' 'unsafe-inline'; \
     frame-ancestors 'self' http://localhost:* http://127.0.0.1:*";

/// Answers a request, whatever it is.
pub(crate) async fn answer(
    site: Arc<Site>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let result = match check(&site, &request) {
        Err(error) => Err(error),
        Ok(()) => {
            let uri = request.uri();
            let (path, query) = (uri.path().to_owned(), uri.query().unwrap_or("").to_owned());
            let work = tokio::task::spawn_blocking(move || route(&site, &path, &query));
            work.await.unwrap_or_else(|e| Err(RequestError::Internal(e.to_string())))
        }
    };
    let (status, answer) = match result {
        Ok(answer) => (StatusCode::OK, answer),
        Err(error) => {
            let body = format!("{error}\n").into();
            (error.status(), Answer { media_type: "text/plain; charset=utf-8", body })
        }
    };
    let mut response = Response::new(Full::new(answer.body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(answer.media_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
    headers.insert("referrer-policy", HeaderValue::from_static("no-referrer"));
    if status == StatusCode::METHOD_NOT_ALLOWED {
        headers.insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
    }
    Ok(response)
}

fn check(site: &Site, request: &Request<Incoming>) -> Result<(), RequestError> {
    host::check(request.headers(), request.uri(), site.host.as_deref())?;
    match *request.method() {
        Method::GET | Method::HEAD => Ok(()),
        _ => Err(RequestError::Method),
    }
}

/// Finds the answer. Of a path only a whole name that is known, or a number, is ever used.
fn route(site: &Site, path: &str, query: &str) -> Result<Answer, RequestError> {
    let query = Query(query);
    match path {
        "/api/run" => site.folder.state(),
        "/api/mesh" => site.folder.mesh(query.generation()?),
        "/api/stats" => site.folder.stats(query.number("from")?.unwrap_or(0)),
        "/api/failure" => site.folder.failure(),
        _ => match path.strip_prefix("/api/frame/") {
            Some(step) => {
                // `+7` and `007` are no names of frames
                let number = step.parse::<u64>().ok().filter(|n| n.to_string() == step);
                let step = number.ok_or(RequestError::NotFound)?;
                site.folder.frame(step, query.generation()?, &query.list("arrays")?)
            }
            None => page(path),
        },
    }
}

fn page(path: &str) -> Result<Answer, RequestError> {
    let name = match path.strip_prefix('/') {
        Some("") if !assets::has_page() => return Err(RequestError::NoPage),
        Some("") => "index.html",
        Some(name) => name,
        None => return Err(RequestError::NotFound),
    };
    let asset = assets::find(name).ok_or(RequestError::NotFound)?;
    Ok(Answer { media_type: asset.media_type, body: Bytes::from_static(asset.bytes) })
}

/// What follows the question mark; its values are numbers and names of arrays, in which nothing is escaped.
struct Query<'a>(&'a str);

impl<'a> Query<'a> {
    fn value(&self, key: &str) -> Option<&'a str> {
        self.0.split('&').find_map(|pair| pair.strip_prefix(key)?.strip_prefix('='))
    }

    fn number(&self, key: &str) -> Result<Option<u64>, RequestError> {
        let wrong = |_| RequestError::Query(format!("{key} is no whole number"));
        self.value(key).map(|v| v.parse().map_err(wrong)).transpose()
    }

    fn generation(&self) -> Result<Option<u64>, RequestError> {
        self.number("generation")
    }

    /// Names with commas between them.
    fn list(&self, key: &str) -> Result<Vec<&'a str>, RequestError> {
        let Some(value) = self.value(key) else { return Ok(Vec::new()) };
        let names: Vec<&str> = value.split(',').filter(|n| !n.is_empty()).collect();
        if names.len() > 32 {
            return Err(RequestError::Query(format!("{key} are more than 32")));
        }
        Ok(names)
    }
}
