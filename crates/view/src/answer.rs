//! What a request is answered with.

use bytes::Bytes;

/// An answer that went well.
pub(crate) struct Answer {
    pub media_type: &'static str,
    pub body: Bytes,
}

impl Answer {
    pub fn json(body: Vec<u8>) -> Self {
        Self { media_type: "application/json", body: body.into() }
    }

    pub fn binary(body: Vec<u8>) -> Self {
        Self { media_type: "application/octet-stream", body: body.into() }
    }
}
