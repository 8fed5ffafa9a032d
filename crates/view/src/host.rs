//! Whom a request takes this server for.

use crate::error::RequestError;
use hyper::header::HOST;
use hyper::http::uri::Authority;
use hyper::{HeaderMap, Uri};
use std::net::IpAddr;

/// Refuses a request that is addressed to a name of which others decide where it points: a page of theirs
/// could read the run through the browser of a person who visits it ("DNS rebinding").
pub(crate) fn check(headers: &HeaderMap, uri: &Uri, own: Option<&str>) -> Result<(), RequestError> {
    let mut hosts = headers.get_all(HOST).iter();
    let host = match (hosts.next(), hosts.next()) {
        (Some(host), None) => host,
        _ => return Err(RequestError::NoHost),
    };
    let shown = || String::from_utf8_lossy(host.as_bytes()).into_owned();
    let authority = Authority::try_from(host.as_bytes());
    let authority = authority.map_err(|_| RequestError::ForeignHost(shown()))?;
    // an address in the request line counts instead of the header
    for host in [Some(authority.host()), uri.host()].into_iter().flatten() {
        if !is_own(host, own) {
            return Err(RequestError::ForeignHost(host.to_owned()));
        }
    }
    Ok(())
}

fn is_own(host: &str, own: Option<&str>) -> bool {
    let bare = host.strip_prefix('[').and_then(|h| h.strip_suffix(']')).unwrap_or(host);
    let is = |name: &str| bare.eq_ignore_ascii_case(name);
    bare.parse::<IpAddr>().is_ok() || is("localhost") || own.is_some_and(is)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::HeaderValue;

    fn allowed(hosts: &[&str], uri: &str, own: Option<&str>) -> bool {
        let mut headers = HeaderMap::new();
        for host in hosts {
            headers.append(HOST, HeaderValue::from_str(host).unwrap());
        }
        check(&headers, &uri.parse().unwrap(), own).is_ok()
    }

    #[test]
    fn only_own_names_and_addresses() {
        for host in ["localhost", "LOCALHOST:80", "127.0.0.1:7327", "[::1]:7327", "192.168.0.7"] {
            assert!(allowed(&[host], "/", None), "{host}");
        }
        for host in [
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example:7327",
            "",
            "a@localhost.x",
        ] {
            assert!(!allowed(&[host], "/", None), "{host}");
        }
        assert!(allowed(&["lab:7327"], "/", Some("lab")));
        assert!(!allowed(&["lab:7327"], "/", None));
        assert!(!allowed(&[], "/", None));
        assert!(!allowed(&["localhost", "localhost"], "/", None));
        assert!(!allowed(&["localhost"], "http://evil.example/", None));
    }
}
