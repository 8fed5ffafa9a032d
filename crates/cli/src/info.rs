//! `standoff info`.

use crate::failure::Failure;
use crate::output::Console;
use standoff_mesh::format::Format;
use standoff_scene::schema::choices;

/// Prints what this build and this machine offer.
pub fn info(console: &mut Console) -> Result<(), Failure> {
    let mut row = |name: &str, value: &str| console.say(format_args!("{name:<18} {value}"));
    row("standoff", env!("CARGO_PKG_VERSION"));
    row("build", if cfg!(debug_assertions) { "debug (slow)" } else { "release" });
    row("threads", &rayon::current_num_threads().to_string());
    row("SIMD", &simd());
    row("mesh formats", &formats());
    for (title, definition) in [
        ("materials", "Law"),
        ("rubber", "Rubber"),
        ("integrators", "Integrator"),
        ("solvers", "Method"),
        ("linear solvers", "LinearSolver"),
        ("devices of linear solvers", "Device"),
        ("collision checks", "Ccd"),
    ] {
        console.say("");
        console.say(title);
        for (name, help) in choices(definition) {
            console.say(format_args!("  {name:<20} {help}"));
        }
    }
    console.say("");
    console.say("graphics processors");
    graphics_processors().iter().for_each(|line| console.say(format_args!("  {line}")));
    Ok(())
}

#[cfg(feature = "gpu")]
fn graphics_processors() -> Vec<String> {
    let all = standoff_gpu::devices();
    if all.is_empty() {
        let none = "none: Vulkan finds no device; a driver may be missing (Debian's mesa-vulkan-drivers has one in software)";
        return vec![none.into()];
    }
    let describe = |d: &standoff_gpu::DeviceInfo| {
        let will_do =
            d.lacks.as_deref().map_or("suitable".into(), |l| format!("not suitable: {l}"));
        let (name, kind, back_end, driver) = (&d.name, d.kind.name(), &d.back_end, &d.driver);
        let mebibytes = d.largest_array >> 20;
        format!("{name} ({kind}, {back_end}, {driver}, arrays of {mebibytes} MiB): {will_do}")
    };
    all.iter().map(describe).collect()
}

#[cfg(not(feature = "gpu"))]
fn graphics_processors() -> Vec<String> {
    vec!["not in this build; cargo build --release -p standoff-cli --features gpu adds them".into()]
}

fn formats() -> String {
    let extensions = Format::ALL.iter().flat_map(|f| f.extensions());
    extensions.map(|e| format!(".{e}")).collect::<Vec<_>>().join(", ")
}

#[cfg(target_arch = "x86_64")]
fn simd() -> String {
    let all = [
        ("AVX2", std::arch::is_x86_feature_detected!("avx2")),
        ("FMA", std::arch::is_x86_feature_detected!("fma")),
        ("AVX-512F", std::arch::is_x86_feature_detected!("avx512f")),
    ];
    let found: Vec<&str> = all.iter().filter(|(_, has)| *has).map(|(name, _)| *name).collect();
    if found.is_empty() { "SSE2".into() } else { found.join(", ") }
}

#[cfg(not(target_arch = "x86_64"))]
fn simd() -> String {
    std::env::consts::ARCH.into()
}
