//! Arrays as the page reads them: the length of a head (four bytes, little-endian), the head in JSON, then the
//! arrays, each from a multiple of four bytes on, little-endian. The head lists name, type, number of components and offset.

use serde::Serialize;
use serde_json::{Value, json};

/// Collects arrays.
#[derive(Debug, Default)]
pub(crate) struct Container {
    arrays: Vec<Value>,
    data: Vec<u8>,
}

impl Container {
    /// Adds an array of numbers, rounded to single precision.
    pub fn floats(&mut self, name: &str, components: usize, values: impl Iterator<Item = f64>) {
        let start = self.data.len();
        self.data.extend(values.flat_map(|v| (v as f32).to_le_bytes()));
        self.list(name, "f32", components, start);
    }

    /// Adds an array of whole numbers.
    pub fn indices(&mut self, name: &str, components: usize, values: impl Iterator<Item = u32>) {
        let start = self.data.len();
        self.data.extend(values.flat_map(u32::to_le_bytes));
        self.list(name, "u32", components, start);
    }

    fn list(&mut self, name: &str, kind: &str, components: usize, start: usize) {
        let length = (self.data.len() - start) / 4;
        self.arrays.push(json!({
            "name": name, "type": kind, "components": components, "offset": start, "length": length,
        }));
    }

    /// Closes the container with what else its head says.
    pub fn finish(self, about: &impl Serialize) -> Result<Vec<u8>, serde_json::Error> {
        let mut head = serde_json::to_vec(&json!({ "about": about, "arrays": self.arrays }))?;
        head.resize(head.len().next_multiple_of(4), b' ');
        let mut all = Vec::with_capacity(4 + head.len() + self.data.len());
        all.extend((head.len() as u32).to_le_bytes());
        all.extend(head);
        all.extend(self.data);
        Ok(all)
    }
}
