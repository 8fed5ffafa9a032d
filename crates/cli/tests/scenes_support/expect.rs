//! What scenes show that their `[[expect]]` tables cannot say: angles, sums over several values, analytic results.

use super::Run;
use standoff_linalg::Vec3;
use standoff_linalg::nalgebra::{Rotation3, Vector3};
use standoff_run::Frame;

/// `Err` with the reason if a condition does not hold.
pub fn require(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what()) }
}

/// Looks for something in a run; `Err` with what was found instead.
type Condition = fn(&Run) -> Result<(), String>;

/// Scenes of which something is looked for here.
pub const CONDITIONS: [(&str, Condition); 14] = [
    ("friction-slope-stick", sticks_to_the_slope),
    ("friction-slope-slide", slides_as_computed),
    ("codim/braid", wound_around_the_middle),
    ("codim/cloth-on-ball", stands_off_the_ball),
    ("codim/cloth-on-rotating-sphere", turns_with_the_ball),
    ("codim/hair-clusters", caught_by_the_ball),
    ("codim/tube-wall", wrung_less_than_a_shell),
    ("codim/twisted-tube", wrung_to_a_strand),
    ("impact-ball", loses_energy_at_the_wall),
    ("orientation/balloon", thins_to_the_expected_wall),
    ("robots/panda-lifts", |run| is_carried(run, "cube", 1.2, 300.0 * 0.05_f64.powi(3) * 9.81)),
    ("robots/panda-lifts-cloth", |run| {
        is_carried(run, "cloth", 0.51, 230.0 * 2e-3 * 0.304 * 0.12 * 9.81)
    }),
    ("stress/twisted-rods", wound_into_a_rope),
    ("twisted-mat", keeps_its_handles),
];

/// What is looked for here of a scene.
pub fn condition(name: &str, run: &Run) -> Result<(), String> {
    let mut all = CONDITIONS.iter().filter(|(n, _)| *n == name);
    all.try_for_each(|(_, condition)| condition(run))
}

fn sticks_to_the_slope(run: &Run) -> Result<(), String> {
    let moved = along_slope(run, 400) - along_slope(run, 40);
    require(moved.abs() < 1e-3, || format!("moved by {moved} m in 9 s"))
}

fn slides_as_computed(run: &Run) -> Result<(), String> {
    let speed = |k| run.mean(&run.frame(k).velocity, "block").dot(&down_slope());
    let found = (speed(400) - speed(40)) / 9.0;
    let angle = 0.5f64.atan();
    let expected = 9.81 * (angle.sin() - 0.49 * angle.cos());
    println!("slope: {found:.5} m/s², analytic {expected:.5} m/s²");
    require((found / expected - 1.0).abs() < 0.01, || format!("{found} and {expected}"))
}

fn down_slope() -> Vec3 {
    Vec3::new(2.0, -1.0, 0.0).normalize()
}

fn along_slope(run: &Run, frame: usize) -> f64 {
    run.mean(&run.frame(frame).positions, "block").dot(&down_slope())
}

/// Every hair goes around the middle one twice, as its ends were turned, close to it; one that had gone through
/// another would be wound otherwise.
fn wound_around_the_middle(run: &Run) -> Result<(), String> {
    let last = run.frame(run.frames() - 1);
    let middle = run.part(&last.positions, "middle");
    for k in 1..=6 {
        let name = format!("hair {k}");
        let hair = run.part(&last.positions, &name);
        let wound = winding(hair, middle);
        require((wound.abs() - 720.0).abs() < 2.0, || format!("{name} is wound by {wound}°"))?;
        let closest = hair.iter().zip(middle).map(|(x, c)| (x - c).norm());
        let closest = closest.fold(f64::INFINITY, f64::min);
        // 6 mm at the start; 5 mm with one other hair of 2 mm between them and gaps of d̂ = 0.5 mm, which the barrier-free method leaves,
        // and a little more where hairs do not touch all the way
        require(closest < 0.0055, || format!("{name} stays {closest} m from the middle"))?;
    }
    // the barrier-free solver counts the constraints that carry force, which differ much from step to step where forces need not balance
    let last = &run.reports[run.reports.len() - 10..];
    let least = if last[0].linear_solves > 0 { 30 } else { 100 };
    let contacts = last.iter().map(|r| r.contacts).sum::<u64>() / 10;
    require(contacts > least, || format!("{contacts} contacts"))
}

/// Its border is far from the ball, as that of a coarse cloth is that hardly bends in two directions.
fn stands_off_the_ball(run: &Run) -> Result<(), String> {
    let last = run.frame(run.frames() - 1);
    let cloth = run.part(&last.positions, "cloth");
    let side = cloth.len().isqrt();
    let border = (0..cloth.len()).filter(|k| {
        let (i, j) = (k % side, k / side);
        i == 0 || j == 0 || i + 1 == side || j + 1 == side
    });
    let reach: Vec<f64> = border.map(|k| cloth[k].x.hypot(cloth[k].z)).collect();
    let reach = reach.iter().sum::<f64>() / reach.len() as f64;
    println!("cloth on a ball of 0.3 m: its border is {reach:.3} m from the axis");
    require(reach > 0.33, || format!("{reach} m"))
}

/// The ball turns by 180°, the cloth on it follows by friction and stays a few degrees behind.
fn turns_with_the_ball(run: &Run) -> Result<(), String> {
    let start = run.frame(0);
    let on_top: Vec<bool> = run
        .part(&start.positions, "cloth")
        .iter()
        .map(|x| (0.04..0.12).contains(&x.x.hypot(x.z)))
        .collect();
    let (mut turned, mut before) = (0.0, start);
    for k in 1..run.frames() {
        let frame = run.frame(k);
        let pairs =
            run.part(&before.positions, "cloth").iter().zip(run.part(&frame.positions, "cloth"));
        let turns = pairs.zip(&on_top).filter(|(_, on)| **on).map(|((a, b), _)| {
            // about y, from z to x
            (a.z * b.x - a.x * b.z).atan2(a.x * b.x + a.z * b.z)
        });
        let turns: Vec<f64> = turns.collect();
        turned += turns.iter().sum::<f64>().to_degrees() / turns.len() as f64;
        before = frame;
    }
    println!("rotating sphere: the cloth on top turned by {turned:.1}° of 180°");
    require(turned > 165.0 && turned < 180.0, || format!("turned by {turned}°"))
}

/// The free ends of some of the falling hairs are carried by the ball: beyond the hanging hairs, and not beside the ball.
fn caught_by_the_ball(run: &Run) -> Result<(), String> {
    let last = run.frame(run.frames() - 1);
    let falling = run.info.bodies.iter().map(|b| &b.name).filter(|n| n.starts_with("falling"));
    let ends = falling.filter_map(|n| run.part(&last.positions, n).last());
    let on_ball = ends.filter(|x| x.x > 0.1 && x.y > -0.115).count();
    println!("hair: {on_ball} on the ball");
    require(on_ball > 0, || "no hair is on the ball".into())
}

/// Mean distance from the x axis of the vertices in the middle of a tube in the end, m.
fn middle_radius(run: &Run) -> f64 {
    let (start, last) = (run.frame(0), run.frame(run.frames() - 1));
    let middle = run.part(&start.positions, "tube").iter().zip(run.part(&last.positions, "tube"));
    let middle = middle.filter(|(a, _)| a.x.abs() < 0.035).map(|(_, x)| x.y.hypot(x.z));
    let radii: Vec<f64> = middle.collect();
    radii.iter().sum::<f64>() / radii.len() as f64
}

/// The middle of the wall is wrung, and wider than the 26 mm that are required of the shell.
fn wrung_less_than_a_shell(run: &Run) -> Result<(), String> {
    let radius = middle_radius(run);
    println!("wall of a tube: middle of {radius:.4} m");
    require(radius > 0.026 && radius < 0.04, || format!("{radius} m"))
}

/// The middle of the tube is a strand of a quarter of its radius.
fn wrung_to_a_strand(run: &Run) -> Result<(), String> {
    let radius = middle_radius(run);
    println!("tube: middle of {radius:.4} m, was 0.08 m");
    require(radius < 0.026, || format!("{radius} m"))
}

/// The energy stays until contact, falls in it and does not rise above it again; the ball leaves with most of its momentum turned round.
fn loses_energy_at_the_wall(run: &Run) -> Result<(), String> {
    let energy = |k: usize| {
        run.reports[k].kinetic_energy
            + run.reports[k].elastic_energy
            + run.reports[k].contact_energy
    };
    let momentum = |k: usize| run.reports[k].linear_momentum[0];
    let (n, start) = (run.reports.len(), momentum(0) * 67.0 / 2.0);
    let contact = |k: &usize| run.reports[*k].contacts > 0;
    let first = (0..n).find(contact).ok_or("no contact")?;
    let last = (0..n).rfind(contact).ok_or("no contact")?;
    for k in 0..n {
        let part = energy(k) / start;
        let holds = if k < first { (part - 1.0).abs() < 1e-6 } else { part < 1.0 && part > 0.85 };
        require(holds, || format!("step {}: {part} of the energy", k + 1))?;
    }
    let back = -momentum(n - 1) / momentum(0);
    println!(
        "ball: contact from step {} to {}, energy {:.3}, momentum {back:.3}",
        first + 1,
        last + 1,
        energy(n - 1) / start
    );
    require(last + 1 < n && back > 0.6 && back < 1.0, || format!("momentum {back}"))
}

/// The wall of the balloon becomes as thin as its volume makes it.
fn thins_to_the_expected_wall(run: &Run) -> Result<(), String> {
    // the inner side comes first in the mesh
    let x = run.frame(run.frames() - 1).positions;
    let (inner, outer) = x.split_at(x.len() / 2);
    let walls = inner.iter().zip(outer).map(|(a, b)| (a - b).norm());
    let (wall, size) = (walls.sum::<f64>() / inner.len() as f64, outer[0].norm());
    println!("balloon: radius {size:.2} m, wall {:.1} mm", 1e3 * wall);
    require((wall - 13e-3).abs() < 1e-3, || format!("wall of {wall} m"))
}

/// Each rod winds around the one across from it as far as its ends are turned, pressed against the others.
fn wound_into_a_rope(run: &Run) -> Result<(), String> {
    let last = run.frame(run.frames() - 1);
    // both ends turn by 180° per second, against each other
    let turned = 360.0 * last.time;
    for (a, b) in [("rod[0,0,0]", "rod[0,1,1]"), ("rod[0,1,0]", "rod[0,0,1]")] {
        let (own, other) = (sections(run, &last, a), sections(run, &last, b));
        let wound = winding(&own, &other);
        require((wound.abs() - turned).abs() < 0.02 * turned, || {
            format!("{a} is wound by {wound}° about {b}, its ends by {turned}°")
        })?;
        let closest =
            own.iter().zip(&other).map(|(x, y)| (x - y).norm()).fold(f64::INFINITY, f64::min);
        // 42 mm at the start; the diameter is 28 mm
        require(closest < 0.040, || format!("{a} and {b} are {closest} m apart"))?;
    }
    Ok(())
}

/// Middles of the sections of a rod along x, by the place of its vertices at rest.
fn sections(run: &Run, frame: &Frame, body: &str) -> Vec<Vec3> {
    let (x, u) = (run.part(&frame.positions, body), run.part(&frame.displacement, body));
    let mut all: Vec<(f64, Vec3)> = x.iter().zip(u).map(|(x, u)| (x.x - u.x, *x)).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let groups = all.chunk_by(|a, b| b.0 - a.0 < 1e-6);
    groups.map(|g| g.iter().map(|(_, x)| x).sum::<Vec3>() / g.len() as f64).collect()
}

/// By how much a curve turns about another in the plane across x, from end to end, in degrees.
fn winding(curve: &[Vec3], about: &[Vec3]) -> f64 {
    let angle = |(x, c): (&Vec3, &Vec3)| (x.z - c.z).atan2(x.y - c.y);
    let angles: Vec<f64> = curve.iter().zip(about).map(angle).collect();
    let half = std::f64::consts::PI;
    let turn = |w: &[f64]| (w[1] - w[0] + half).rem_euclid(2.0 * half) - half;
    angles.windows(2).map(turn).sum::<f64>().to_degrees()
}

/// The held ends are where their rotation puts them, 0.1 % of a step's way aside at most.
fn keeps_its_handles(run: &Run) -> Result<(), String> {
    let (start, k) = (run.frame(0), run.frames() - 1);
    let last = run.frame(k);
    let angle = 72f64.to_radians() * last.time;
    for (end, sign) in [(-0.5, -1.0), (0.5, 1.0)] {
        let turn = Rotation3::from_axis_angle(&Vector3::x_axis(), sign * angle);
        let mut held = 0;
        for (x0, x) in start.positions.iter().zip(&last.positions) {
            if (x0.x - end).abs() < 1e-9 {
                held += 1;
                let off = (turn * x0 - x).norm();
                require(off < 1e-4, || format!("a held vertex is {off} m from its place"))?;
            }
        }
        require(held == 42, || format!("{held} vertices at x = {end}"))?;
    }
    Ok(())
}

/// Rigid bodies stay so, and joints together, in every step.
pub fn stays_rigid(run: &Run) -> Result<(), String> {
    let exact = |v: Option<f64>| v.is_some_and(|v| v < 1e-6);
    let found = run.reports.iter().find(|r| !(exact(r.joint_error) && exact(r.rigid_deformation)));
    let values = found.map(|r| (r.step, r.joint_error, r.rigid_deformation));
    require(values.is_none(), || format!("step, joints, rigid bodies: {values:?}"))
}

/// The fingers of a gripper, which follow each other, share the force of their drive (N) and carry the weight of an object (N) by friction; nothing else
/// touches it, and the robot stays rigid and its joints together.
fn is_carried(run: &Run, object: &str, drive: f64, weight: f64) -> Result<(), String> {
    stays_rigid(run)?;
    let forces = &run.reports.last().expect("steps").forces.pairs[object];
    require(forces.len() == 2, || format!("{:?} touch it", forces.keys()))?;
    let fingers = ["panda_leftfinger", "panda_rightfinger"].map(|name| forces[name]);
    let sum: f64 = fingers.iter().map(|f| f.friction[2]).sum();
    // it still swings a little
    require((sum / weight - 1.0).abs() < 0.03, || format!("{sum} N for {weight} N"))?;
    for (finger, side) in fingers.iter().zip([1.0, -1.0]) {
        let normal = side * (finger.force[1] - finger.friction[1]);
        require((normal / (0.5 * drive) - 1.0).abs() < 0.01, || format!("{normal} N"))?;
    }
    Ok(())
}
