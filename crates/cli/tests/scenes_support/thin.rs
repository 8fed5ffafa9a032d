//! What the scenes of shells, rods and particles announce under "What to see".

use super::Run;
use super::expect::{require, winding};
use standoff_linalg::Vec3;

/// Everything touches, and the net carries the weight of all: in equilibrium at the end.
pub fn held_by_the_net(run: &Run) -> Result<(), String> {
    let last = run.frame(run.frames() - 1);
    let mut total = Vec3::zeros();
    for body in ["net", "cloth", "block", "balls"] {
        let forces = run.part(&last.contact_force, body);
        let touching = forces.iter().filter(|f| f.norm() > 0.0).count();
        require(touching > 10, || format!("{touching} vertices of {body} touch something"))?;
        total += forces.iter().sum::<Vec3>();
        let low = run.extent(&last, body).0.y;
        let fastest = run.part(&last.velocity, body).iter().map(|v| v.norm()).fold(0.0, f64::max);
        require(low > -0.05 && fastest < 0.05, || format!("{body} is at {low}, {fastest} m/s"))?;
    }
    // the block of 0.216 kg
    let borne = run.part(&last.contact_force, "block").iter().sum::<Vec3>().y;
    println!(
        "all in: the block of 2.12 N is borne by {borne:.3} N; all forces sum to {:.1e} N",
        total.norm()
    );
    require((borne / 2.119 - 1.0).abs() < 0.05, || format!("the block is borne by {borne} N"))?;
    require(total.norm() < 1e-9, || format!("forces between bodies sum to {total}"))
}

/// Every hair goes around the middle one twice, as its ends were turned, close to it; one that had gone through
/// another would be wound otherwise.
pub fn wound_around_the_middle(run: &Run) -> Result<(), String> {
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
    // the barrier-free solver counts the constraints that carry force
    let last = &run.reports[run.reports.len() - 1];
    let least = if last.linear_solves > 0 { 30 } else { 100 };
    require(last.contacts > least, || format!("{} contacts", last.contacts))
}

/// Above the tips over the bed, lower between them, and at rest.
pub fn sags_between_needles(run: &Run) -> Result<(), String> {
    let (start, last) = (run.frame(0), run.frame(run.frames() - 1));
    let at = run.part(&start.positions, "cloth");
    let over = at.iter().zip(run.part(&last.positions, "cloth"));
    let over = over.filter(|(a, _)| a.x.abs() < 0.151 && a.z.abs() < 0.151);
    let heights: Vec<f64> = over.map(|(_, x)| x.y).collect();
    let (low, high) =
        heights.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), y| (l.min(*y), h.max(*y)));
    let fastest = run.part(&last.velocity, "cloth").iter().map(|v| v.norm()).fold(0.0, f64::max);
    println!(
        "needles: cloth from {low:.4} to {high:.4} m over tips at 0.05 m, {fastest:.3} m/s at most"
    );
    let sags = high > 0.05 && high < 0.062 && low > 0.02 && low < 0.045;
    require(sags && fastest < 0.05, || format!("{low} to {high} m, {fastest} m/s"))
}

/// The ball turns by 180°, the cloth on it follows by friction and stays a few degrees behind.
pub fn turns_with_the_ball(run: &Run) -> Result<(), String> {
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
    let (low, high) = run.extent(&before, "cloth");
    println!("rotating sphere: the cloth on top turned by {turned:.1}° of 180°");
    require(turned > 165.0 && turned < 180.0, || format!("turned by {turned}°"))?;
    // hangs down on all sides, and is nowhere wider than it was
    let drapes = low.y < -0.15 && high.y > 0.15 && (high.x - low.x) < 0.5;
    require(drapes, || format!("the cloth is at {low} to {high}"))
}

/// At rest on the ground and on each other.
pub fn rests_in_layers(run: &Run) -> Result<(), String> {
    let last = run.frame(run.frames() - 1);
    let fastest = last.velocity.iter().map(|v| v.norm()).fold(0.0, f64::max);
    let y = last.positions.iter().map(|x| x.y);
    let (low, high) = y.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), y| (l.min(y), h.max(y)));
    let on_others = (0..45).filter(|k| {
        let name = format!("sprinkle[{},{},{}]", k % 3, k / 3 % 5, k / 15);
        run.extent(&last, &name).0.y > 2e-3
    });
    let on_others = on_others.count();
    println!(
        "sprinkles: {low:.5} to {high:.5} m, {on_others} on others, {fastest:.1e} m/s at most"
    );
    // the radius is 1 mm, the heap was 60 mm high
    let rests = low > 1e-3 && low < 1.5e-3 && high < 0.01 && fastest < 1e-3;
    require(rests && on_others > 5, || format!("{low} to {high} m, {on_others}, {fastest} m/s"))
}

/// The middle of the tube is a strand of a quarter of its radius, whose folds press on each other.
pub fn wrung_to_a_strand(run: &Run) -> Result<(), String> {
    let (start, last) = (run.frame(0), run.frame(run.frames() - 1));
    let middle = run.part(&start.positions, "tube").iter().zip(run.part(&last.positions, "tube"));
    let middle = middle.filter(|(a, _)| a.x.abs() < 0.035).map(|(_, x)| x.y.hypot(x.z));
    let radii: Vec<f64> = middle.collect();
    let radius = radii.iter().sum::<f64>() / radii.len() as f64;
    let contacts = run.reports[run.reports.len() - 1].contacts;
    println!("tube: middle of {radius:.4} m, was 0.08 m; {contacts} contacts");
    require(radius < 0.026 && contacts > 50, || format!("{radius} m, {contacts} contacts"))
}
