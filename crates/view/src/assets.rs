//! The page, as far as it was built.

/// A file of the page.
pub(crate) struct Asset {
    pub name: &'static str,
    pub media_type: &'static str,
    pub bytes: &'static [u8],
}

static ASSETS: &[Asset] = include!(concat!(env!("OUT_DIR"), "/assets.rs"));

/// Why a program has no page, and how to build one that has it.
pub const HOW_TO_BUILD: &str = concat!(
    "this standoff was built without the viewer's page, because ",
    env!("STANDOFF_WHY_NO_PAGE"),
    ". With Node.js 20 or newer and npm, run `npm ci && npm run build` in crates/view/web, then build standoff \
     again"
);

/// Whether the page was there when this crate was compiled.
pub fn has_page() -> bool {
    !ASSETS.is_empty()
}

/// The file of this name.
pub(crate) fn find(name: &str) -> Option<&'static Asset> {
    ASSETS.iter().find(|a| a.name == name)
}
