//! Where to listen.

use crate::ViewError;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, ToSocketAddrs};

/// Port unless another is given; a free one if this is taken.
const PORT: u16 = 7327;

/// Where the server listens.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Listen {
    /// Name or address; the loopback interface if there is none.
    host: Option<String>,
    /// Port; 0 for one that is free.
    port: Option<u16>,
}

impl Listen {
    /// Reads `ADDRESS`, `ADDRESS:PORT` or `:PORT`; an IPv6 address with a port is in brackets.
    ///
    /// # Errors
    /// [`ViewError::Address`]. Names are looked up later.
    pub fn parse(given: &str) -> Result<Self, ViewError> {
        let wrong = |why: &str| ViewError::Address { given: given.into(), why: why.into() };
        if let Ok(address) = given.parse::<IpAddr>() {
            return Ok(Self { host: Some(address.to_string()), port: None });
        }
        let (host, port) = match given.rsplit_once(':') {
            Some((host, port)) => {
                (host, Some(port.parse().map_err(|_| wrong("the port is no number up to 65535"))?))
            }
            None => (given, None),
        };
        let bare = host.strip_prefix('[').and_then(|h| h.strip_suffix(']')).unwrap_or(host);
        let fits = |c: char| c.is_ascii_alphanumeric() || "-._:".contains(c);
        if !bare.chars().all(fits) || (given.is_empty()) || (bare.contains(':') && bare == host) {
            return Err(wrong("it is no name and no IP address"));
        }
        Ok(Self { host: (!bare.is_empty()).then(|| bare.to_ascii_lowercase()), port })
    }

    /// The name to listen on, if it is no address.
    pub(crate) fn name(&self) -> Option<&str> {
        self.host.as_deref().filter(|h| h.parse::<IpAddr>().is_err())
    }

    pub(crate) fn bind(&self) -> Result<TcpListener, ViewError> {
        let refused = |source: io::Error| {
            let host = self.host.as_deref().unwrap_or("127.0.0.1");
            let address = format!("{host}:{}", self.port.unwrap_or(PORT));
            ViewError::Listen { address, source }
        };
        let addresses = |port: u16| -> io::Result<Vec<SocketAddr>> {
            match &self.host {
                None => Ok(vec![SocketAddr::from((Ipv4Addr::LOCALHOST, port))]),
                Some(host) => Ok((host.as_str(), port).to_socket_addrs()?.collect()),
            }
        };
        let bind = |port: u16| TcpListener::bind(addresses(port)?.as_slice());
        match (bind(self.port.unwrap_or(PORT)), self.port) {
            (Err(e), None) if e.kind() == io::ErrorKind::AddrInUse => bind(0).map_err(refused),
            (result, _) => result.map_err(refused),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_listened_on() {
        let of = |host: Option<&str>, port| Listen { host: host.map(Into::into), port };
        for (given, expected) in [
            (":80", of(None, Some(80))),
            ("127.0.0.1", of(Some("127.0.0.1"), None)),
            ("0.0.0.0:7000", of(Some("0.0.0.0"), Some(7000))),
            ("Lab-3.example:7000", of(Some("lab-3.example"), Some(7000))),
            ("::1", of(Some("::1"), None)),
            ("[::1]:7000", of(Some("::1"), Some(7000))),
        ] {
            assert_eq!(Listen::parse(given).unwrap(), expected, "{given}");
        }
        for given in ["", ":", "a:b", "localhost:99999", "a b:1", "1:2:3:4", "http://localhost:80"]
        {
            let error = Listen::parse(given).unwrap_err().to_string();
            assert!(error.contains(given) && error.contains("ADDRESS:PORT"), "{error}");
        }
        assert_eq!(Listen::parse("lab:1").unwrap().name(), Some("lab"));
        assert_eq!(Listen::parse("[::1]:1").unwrap().name(), None);
        let error = Listen::parse("no-such-name.invalid:1").unwrap().bind().unwrap_err();
        assert!(matches!(error, ViewError::Listen { .. }), "{error}");
    }
}
