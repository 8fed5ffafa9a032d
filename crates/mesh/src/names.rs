//! Names that are told apart by numbers.

use std::collections::{HashMap, HashSet};

/// Names that are each given once: `hand`, `hand-2`, `hand-3`, … in time that does not grow with their number.
#[derive(Debug, Clone, Default)]
pub struct Names {
    taken: HashSet<String>,
    /// The next number to try behind a name.
    next: HashMap<String, usize>,
}

impl Names {
    /// `base`, or with the smallest number from 2 on that makes it a name of its own.
    pub fn free(&mut self, base: &str) -> String {
        if self.taken.insert(base.to_owned()) {
            return base.to_owned();
        }
        let next = self.next.entry(base.to_owned()).or_insert(2);
        loop {
            let name = format!("{base}-{next}");
            *next += 1;
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
    }

    /// Takes a name that must not be given; whether it was free.
    pub fn take(&mut self, name: &str) -> bool {
        self.taken.insert(name.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_given_once() {
        let mut names = Names::default();
        assert!(names.take("a-3") && !names.take("a-3"));
        let given = ["a", "a", "a", "a-2", "b"].map(|n| names.free(n));
        assert_eq!(given, ["a", "a-2", "a-4", "a-2-2", "b"]);
    }

    #[test]
    fn many_equal_names_take_little_time() {
        let begin = std::time::Instant::now();
        let mut names = Names::default();
        (0..100_000).for_each(|_| drop(names.free("part")));
        assert_eq!(names.free("part"), "part-100001");
        // 0.05 s; one after the other from 2 on would take minutes
        assert!(begin.elapsed().as_secs() < 10);
    }
}
