//! What each scene announces under "What to see".

use super::{Run, papers, thin};
use standoff_linalg::Vec3;
use standoff_linalg::nalgebra::{Rotation3, Vector3};
use standoff_run::Frame;

/// `Err` with the reason if a condition does not hold.
pub fn require(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what()) }
}

/// What the scene's own comment announces under "What to see".
pub fn expectation(name: &str, run: &Run) -> Result<(), String> {
    let last = run.frame(run.frames() - 1);
    let lowest = |body: &str| run.extent(&last, body).0.y;
    let centre = |body: &str| run.mean(&last.positions, body);
    match name {
        "tunnelling-ball" => stopped_by_the_board(run),
        "friction-slope-stick" => {
            let moved = along_slope(run, 400) - along_slope(run, 40);
            require(moved.abs() < 1e-3, || format!("moved by {moved} m in 9 s"))
        }
        "friction-slope-slide" => {
            let speed = |k| run.mean(&run.frame(k).velocity, "block").dot(&down_slope());
            let found = (speed(400) - speed(40)) / 9.0;
            let angle = 0.5f64.atan();
            let expected = 9.81 * (angle.sin() - 0.49 * angle.cos());
            println!("slope: {found:.5} m/s², analytic {expected:.5} m/s²");
            require((found / expected - 1.0).abs() < 0.01, || format!("{found} and {expected}"))
        }
        "two-cubes-fall" | "unit/tet-tet" => {
            let least = lowest("upper").min(lowest("lower"));
            require(least > 0.0 && lowest("lower") < 0.1, || format!("lowest at {least}"))
        }
        "unit/cube-stack" => (0..5).try_for_each(|k| {
            let y = lowest(&format!("cube[0,{k},0]"));
            require(y > 0.5 && y < 0.6, || format!("cube {k} is at {y}"))
        }),
        "unit/tet-slots" => {
            let (low, high) = run.extent(&last, "tet");
            let between = low.x > -5.0005e-7 && high.x < 1.000_000_500_5;
            let down = low.y > -0.5 && low.y < -0.4999;
            require(between && down, || format!("{low} {high}"))
        }
        // eight cards of 0.3 mm: the lowest half of that above the ground
        "codim/cards" => {
            let (low, high) = (lowest("card[0,0,0]"), lowest("card[0,7,0]"));
            let heights = low > 0.15e-3 && high > 2.25e-3 && high < 4e-3;
            require(heights, || format!("cards from {low} to {high}"))
        }
        // as high as a deck of 54 cards is
        "codim/deck" => {
            let (low, high) = run.extent(&last, "card[0,53,0]");
            println!("deck: {} to {} m and half of 0.1 mm", low.y, high.y);
            let deck = |y: f64| (y + 0.05e-3 - 15.4e-3).abs() < 0.03 * 15.4e-3;
            require(deck(low.y) && deck(high.y), || format!("from {low} to {high}"))
        }
        // in the order in which they were let go of, an elastic layer apart, and squared
        "codim/card-shuffle" => (1..10).try_for_each(|k| {
            let (below, card) = (centre(&format!("card {}", k - 1)), centre(&format!("card {k}")));
            let gap = card.y - below.y;
            let squared = card.x.abs() < 3e-3 && gap > 0.25e-3 && gap < 0.3e-3;
            require(squared, || format!("card {k} at {card}, {gap} m above the last"))
        }),
        "codim/all-in" => thin::held_by_the_net(run),
        "codim/braid" => thin::wound_around_the_middle(run),
        "codim/cloth-on-needles" => thin::sags_between_needles(run),
        "codim/cloth-on-ball" => papers::stands_off_the_ball(run),
        "codim/cloth-pulled-off-needles" => papers::slides_off_the_needles(run),
        "codim/cloths-through-funnel" => papers::pushed_through_the_funnel(run),
        "codim/hair-clusters" => papers::caught_by_hair_and_ball(run),
        "codim/tube-wall" => papers::wrung_less_than_a_shell(run),
        "papers/card-house-hit" => papers::stands_until_it_is_hit(run),
        "papers/ramen" => papers::lifted_by_chopsticks(run),
        "papers/six-rollers" => papers::drawn_through_the_rollers(run),
        "papers/squeeze-out" => papers::squeezed_out(run),
        "papers/squishy-ball" => papers::squashed_by_the_wall(run),
        "papers/squishy-balls-pressed" => papers::pressed_in_a_frame(run),
        "papers/through-hole" => papers::pushed_through_the_hole(run),
        "papers/trash-compactor" => papers::compacted_and_released(run),
        "codim/cloth-on-rotating-sphere" => thin::turns_with_the_ball(run),
        "codim/sprinkles" => thin::rests_in_layers(run),
        "codim/twisted-tube" => thin::wrung_to_a_strand(run),
        "codim/cloth-stack" => {
            let (top, ball) = (run.extent(&last, "cloth[0,9,0]"), lowest("ball"));
            let stacked = top.1.y > 0.045 && top.1.y < 0.055 && ball > 0.035 && ball < 0.05;
            require(stacked, || format!("uppermost cloth up to {}, ball at {ball}", top.1.y))
        }
        "codim/reef-knot" => {
            let (low, high) = run.extent(&last, "left");
            println!("reef knot: {low:?} to {high:?}");
            // the arc of the ribbon was at 0.085, and stays in the other's
            require(high.x < 0.02 && low.x < -0.2, || format!("{low} {high}"))
        }
        "codim/granules-on-cloth" => {
            let least = lowest("granules");
            require(least > -0.1, || format!("a granule fell to {least}"))
        }
        "codim/noodles" => (0..4).try_for_each(|k| {
            let y = lowest(&format!("noodle[0,0,{k}]"));
            require(y > -0.03 && y < -0.02, || format!("noodle {k} is at {y}"))
        }),
        "codim/tablecloth-pull" => {
            let (cube, plate, cloth) = (centre("cube"), centre("plate"), centre("cloth"));
            let stays = cube.x > -0.14 && cube.y > 0.0 && plate.x > -0.12 && plate.y > 0.0;
            require(stays && cloth.x < -0.6, || {
                format!("cube {cube}, plate {plate}, cloth {cloth}")
            })
        }
        "codim/twisted-ring" => {
            let (low, high) = run.extent(&last, "ring");
            require(high.z - low.z > 0.015, || format!("still flat: {low} {high}"))
        }
        "codim/sewn-pillow" => {
            let (front, back) = (run.extent(&last, "front"), run.extent(&last, "back"));
            let gap = (front.0.y - back.0.y).abs();
            require(gap < 5e-3, || format!("borders {gap} m apart"))
        }
        "ball-on-needles" => {
            let y = centre("ball").y;
            require(y > 0.1 && lowest("ball") > -0.1, || format!("the ball is at {y}"))
        }
        "rollers" => {
            // drawn down from 0.28 m, and narrower than the 0.24 m of its diameter
            let (low, high) = run.extent(&last, "ball");
            let drawn = centre("ball").y < 0.1 && high.x - low.x < 0.2;
            require(drawn, || format!("{low} {high}"))
        }
        "twisted-mat" => keeps_its_handles(run),
        "stress/ball-on-plate" => flattened_by_the_plate(run),
        "stress/chain-rings" => crumpled_and_released(run),
        "stress/animal-well" => squashed_in_the_well(run),
        "stress/twisted-rods" => wound_into_a_rope(run),
        "orientation/cliff-edge" => {
            let (cube, low) = (centre("falling cube"), lowest("falling cube"));
            let drift = (cube.x - 0.5).hypot(cube.z - 0.5);
            println!("cliff edge: drift of {:.1} mm", 1e3 * drift);
            require(low > 0.5 && drift < 0.01, || format!("at {cube}, lowest at {low}"))
        }
        "orientation/compressed-block" => {
            let (low, high) = run.extent(&last, "column");
            let wide = high.x.max(high.z).max(-low.x).max(-low.z);
            let flat = (wide - 0.075).abs() < 1e-4 && (high.y - low.y - 0.2).abs() < 1e-4;
            require(flat, || format!("from {low} to {high}"))
        }
        "orientation/fine-ball" => {
            let round = |frame: &Frame| {
                let (low, high) = run.extent(frame, "ball");
                let ratio = (high - low) / 0.6;
                (ratio.min(), ratio.max())
            };
            // 0.2 s of fall, and the end
            let shapes = [round(&run.frame(20)), round(&last)];
            let kept = shapes.iter().all(|(least, most)| *least > 0.97 && *most < 1.03);
            let least = lowest("ball");
            require(kept && least > 0.02, || format!("{shapes:?}, lowest at {least}"))
        }
        "orientation/balloon" => thins_without_contact(run),
        "orientation/compactor" => pressed_and_recovered(run),
        "orientation/corner" => {
            let least = run.reports.iter().filter_map(|r| r.min_gap).fold(f64::INFINITY, f64::min);
            let speed = run.mean(&last.velocity, "corner").y;
            let slowed = speed > -200.0 && least > 4e-3 && least < 8e-3;
            require(slowed, || format!("{speed} m/s, smallest gap {least} m"))
        }
        "orientation/funnel" => {
            let (low, high) = run.extent(&last, "body");
            let size = high - low;
            println!("funnel: {size:?} up to {}", high.y);
            let whole = (size.x / 0.3 - 1.0).abs() < 0.1 && (size.y / 0.48 - 1.0).abs() < 0.1;
            require(high.y < -0.2 && whole, || format!("the body is at {low} {high}"))
        }
        "orientation/two-rings" => {
            let speed = ["left", "right"].map(|name| run.mean(&last.velocity, name).x);
            let apart = run.extent(&last, "left").1.x < run.extent(&last, "right").0.x;
            require(speed[0] < -0.2 && speed[1] > 0.2 && apart, || format!("{speed:?} {apart}"))
        }
        "orientation/rounded-block"
        | "orientation/slit-block"
        | "orientation/two-blocks"
        | "planar/rounded-block"
        | "planar/slit" => {
            let idle = run.reports.iter().all(|r| r.max_contacts == 0 && r.newton_iterations <= 1);
            require(idle, || "something acts at rest".into())
        }
        "stress/fine-ball" => jumps_off_at_a_distance(run),
        "stress/funnel" => {
            let (low, high) = run.extent(&last, "body");
            require(high.y < -0.3 && low.y < -0.9, || format!("the body is at {low} {high}"))
        }
        "stress/stiff-stack" => {
            // none below the ground, and pushed on together; the topmost stay behind and fall
            let cubes = (0..4).flat_map(|y| (0..3).map(move |z| format!("cube[0,{y},{z}]")));
            let low = cubes.clone().map(|c| lowest(&c)).fold(f64::INFINITY, f64::min);
            let way = cubes.map(|c| centre(&c).x).sum::<f64>() / 12.0;
            require(low > 0.0 && way > 2.5 && way < 4.0, || format!("{low} {way}"))
        }
        "impact-ball" => loses_energy_at_the_wall(run),
        "bench/drop-100k" | "bench/drop-1m" => {
            require(lowest("block") > 0.0 && lowest("block") < 0.01, || {
                format!("the block is at {}", lowest("block"))
            })
        }
        "bench/plane-20k" | "bench/solid-20k" => {
            let (mut flattest, mut after, mut off) = (f64::INFINITY, 0, false);
            for k in 0..run.frames() {
                let (low, high) = run.extent(&run.frame(k), "block");
                if high.y - low.y < flattest {
                    (flattest, after) = (high.y - low.y, k);
                }
                off |= k > after && low.y > 0.01;
            }
            require(flattest < 0.96 && off, || format!("{flattest}, jumps off: {off}"))
        }
        "planar/corner" => {
            let least = run.reports.iter().filter_map(|r| r.min_gap).fold(f64::INFINITY, f64::min);
            let speed = run.mean(&last.velocity, "square").y;
            let slowed = speed > -150.0 && least > 2e-3 && least < 1e-2;
            require(slowed, || format!("{speed} m/s, smallest gap {least} m"))
        }
        "planar/chi" => {
            let contacts = run.reports.last().map_or(0, |r| r.contacts);
            let (low, high) = run.extent(&last, "chi");
            let pressed = high.y - low.y < 0.95 && contacts > 50;
            require(pressed, || format!("{contacts} contacts, {} m high", high.y - low.y))
        }
        "planar/bowl" => {
            let (low, high) = run.extent(&last, "block");
            let stands = high.y - low.y > 0.35 && high.x - low.x < 0.25 && low.y < 0.03;
            let (low, high) = run.extent(&last, "disc");
            let beside = low.x > centre("block").x && high.x < 0.65 && low.y > 0.0 && low.y < 0.06;
            require(stands && beside, || format!("block at {}, disc at {low}", centre("block")))
        }
        "bench/hang" => {
            // an edge of 1 m; after 0.1 s it has fallen further than it sags at rest
            let sag = -0.5 - lowest("block");
            require(sag > 0.01 && sag < 0.05, || format!("the block sags by {sag}"))
        }
        _ => match name.strip_prefix("erleben/") {
            Some(name) => erleben(name, run),
            None => Err("nobody says what is to be seen".into()),
        },
    }
}

/// The wall of the balloon becomes thinner than the contact distance of 20 mm, and nothing acts.
fn thins_without_contact(run: &Run) -> Result<(), String> {
    let idle = run.reports.iter().all(|r| r.max_contacts == 0);
    // the inner side comes first in the mesh
    let x = run.frame(run.frames() - 1).positions;
    let (inner, outer) = x.split_at(x.len() / 2);
    let walls = inner.iter().zip(outer).map(|(a, b)| (a - b).norm());
    let (wall, size) = (walls.sum::<f64>() / inner.len() as f64, outer[0].norm());
    println!("balloon: radius {size:.2} m, wall {:.1} mm", 1e3 * wall);
    require(idle && (wall - 13e-3).abs() < 1e-3, || format!("wall of {wall} m, idle: {idle}"))
}

/// The bodies fill most of the space between the walls when these are closest, and hold little energy when they have opened again.
fn pressed_and_recovered(run: &Run) -> Result<(), String> {
    // the walls are closest after a third of the time
    let third = run.frames() / 3;
    let closest = run.frame(third);
    let room = run.extent(&closest, "right wall").0.x - run.extent(&closest, "left wall").1.x;
    let energy = |k: usize| run.reports[k].elastic_energy;
    let most = (0..third + 5).map(energy).fold(0.0, f64::max);
    let left = energy(run.reports.len() - 1) / most;
    println!("compactor: {room:.3} m of room, {left:.4} of the elastic energy left");
    require(room < 0.35 && left < 0.1, || format!("{room} m of room, {left} of the energy left"))
}

/// Toys that came first are squashed and stopped by the floor; later ones still fall.
fn squashed_in_the_well(run: &Run) -> Result<(), String> {
    let last = run.frame(run.frames() - 1);
    let speed = |name: &str| run.mean(&last.velocity, name).norm();
    let mut flattest = f64::INFINITY;
    let (mut stopped, mut count) = (0, 0);
    for (x, z) in (0..4).flat_map(|x| (0..3).map(move |z| (x, z))) {
        let ball = format!("ball[{x},0,{z}]");
        stopped += usize::from(speed(&ball) < 5.0);
        count += 1;
        for k in 0..run.frames() {
            let (low, high) = run.extent(&run.frame(k), &ball);
            flattest = flattest.min((high.y - low.y) / 0.2);
        }
        let above = format!("ball[{x},4,{z}]");
        require(speed(&above) > 10.0, || format!("{above} falls at {} m/s", speed(&above)))?;
    }
    println!("well: {stopped} of {count} balls on the floor stopped, flattest {flattest:.2}");
    require(4 * stopped >= 3 * count && flattest < 0.8, || format!("{stopped}, {flattest}"))
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
    let contacts = run.reports[run.reports.len() - 1].contacts;
    require(contacts > 50, || format!("{contacts} contacts"))
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
pub fn winding(curve: &[Vec3], about: &[Vec3]) -> f64 {
    let angle = |(x, c): (&Vec3, &Vec3)| (x.z - c.z).atan2(x.y - c.y);
    let angles: Vec<f64> = curve.iter().zip(about).map(angle).collect();
    let half = std::f64::consts::PI;
    let turn = |w: &[f64]| (w[1] - w[0] + half).rem_euclid(2.0 * half) - half;
    angles.windows(2).map(turn).sum::<f64>().to_degrees()
}

/// The ball is dented at a distance of 32 mm from the ground, more than its longest edge, and jumps off;
/// no more constraints act than the triangles that face the ground.
fn jumps_off_at_a_distance(run: &Run) -> Result<(), String> {
    let mut flattest = f64::INFINITY;
    for k in 0..run.frames() {
        let (low, high) = run.extent(&run.frame(k), "ball");
        require(low.y > 0.0, || format!("the ball is at {} in frame {k}", low.y))?;
        flattest = flattest.min((high.y - low.y) / 0.2);
    }
    let last = run.frame(run.frames() - 1);
    let (low, speed) = (run.extent(&last, "ball").0.y, run.mean(&last.velocity, "ball").y);
    let most = run.reports.iter().map(|r| r.max_contacts).max().unwrap_or(0);
    println!(
        "fine ball: {flattest:.2} of its diameter, {most} constraints, at {low} m, {speed} m/s"
    );
    require(flattest < 0.8 && low > 0.032 && speed > 0.5, || {
        format!("{flattest} of its diameter, at {low} m, {speed} m/s")
    })?;
    require(most > 20 && most < 100, || format!("{most} constraints"))
}

/// The ball is pressed to less than two thirds of its diameter, never passes the plate and leaves it
/// with its shape restored.
fn flattened_by_the_plate(run: &Run) -> Result<(), String> {
    let mut flattest = f64::INFINITY;
    for k in 0..run.frames() {
        let (low, high) = run.extent(&run.frame(k), "ball");
        require(low.y > 0.0, || format!("the ball is at {} in frame {k}", low.y))?;
        flattest = flattest.min((high.y - low.y) / 0.5);
    }
    let (low, high) = run.extent(&run.frame(run.frames() - 1), "ball");
    println!("ball: {flattest:.2} of its diameter, ends at {:.2} m", low.y);
    let restored = (high.y - low.y) / 0.5;
    require(flattest < 0.4 && low.y > 0.5 && (restored - 1.0).abs() < 0.05, || {
        format!("{flattest} and {restored} of its diameter, at {}", low.y)
    })
}

/// The box shrinks to a hundredth of its volume at least, and the rings open again, each in the other.
fn crumpled_and_released(run: &Run) -> Result<(), String> {
    let volume = |k: usize| {
        let (low, high) = run.extent(&run.frame(k), "box");
        (high - low).product()
    };
    let least = (0..run.frames()).map(volume).fold(f64::INFINITY, f64::min);
    require(least * 100.0 < volume(0), || format!("the box shrinks to {least} m³"))?;
    let last = run.frame(run.frames() - 1);
    let width = |name: &str| {
        let (low, high) = run.extent(&last, name);
        (high - low).norm()
    };
    let widths = ["left ring", "middle ring", "right ring"].map(width);
    println!("rings: {widths:.3?} m wide again");
    // 0.34 m at rest, 0.15 m in the small box
    require(widths.iter().all(|w| *w > 0.25), || format!("rings of {widths:?} m"))?;
    // still linked: neighbours overlap
    let middle = run.extent(&last, "middle ring");
    let overlap = run.extent(&last, "left ring").1.x > middle.0.x
        && run.extent(&last, "right ring").0.x < middle.1.x;
    require(overlap, || "the chain came apart".into())
}

/// The bodies of Erleben's tests end where their comments say.
fn erleben(name: &str, run: &Run) -> Result<(), String> {
    let last = run.frame(run.frames() - 1);
    let moving = run.info.bodies.iter().find(|b| !b.obstacle).ok_or("nothing moves")?;
    let fixed = run.info.bodies.iter().find(|b| b.obstacle).ok_or("nothing is fixed")?;
    let (low, high) = run.extent(&last, &moving.name);
    let top = run.extent(&last, &fixed.name).1.y;
    let holds = match name {
        // on the face that it fell on
        "cube-cliff" | "cube-internal-edges" => low.y > top && low.y < top + 0.05,
        // never below the plane that it is dragged over
        "spike-plane" | "wedge-plane" => low.y > top && high.x > 1.4,
        // up to the edge of the groove, or against the wall of the pit
        "spike-crack" | "wedge-crack" | "spike-hole" => low.y > top - 0.2 && high.x > 0.8,
        // off to one side, and down
        "spike-spike" | "spike-wedge" | "wedge-wedge" => low.y < top,
        _ => true,
    };
    require(holds, || format!("{} is at {low} to {high}, the top at {top}", moving.name))
}

fn down_slope() -> Vec3 {
    Vec3::new(2.0, -1.0, 0.0).normalize()
}

fn along_slope(run: &Run, frame: usize) -> f64 {
    run.mean(&run.frame(frame).positions, "block").dot(&down_slope())
}

/// The ball is in front of the board in every frame, touches it, and moves away from it at the end.
pub fn stopped_by_the_board(run: &Run) -> Result<(), String> {
    let mut closest = f64::INFINITY;
    for k in 0..run.frames() {
        let front = run.extent(&run.frame(k), "ball").1.x;
        require(front < -0.01, || format!("the ball is at {front} in frame {k}"))?;
        closest = closest.min(-0.01 - front);
    }
    let speed = run.mean(&run.frame(run.frames() - 1).velocity, "ball").x;
    println!("ball: comes as close as {closest:.1e} m, leaves at {speed:.2e} m/s");
    require(closest < 1e-3 && speed < 0.0, || format!("{closest} m, {speed} m/s"))
}

/// The energy stays until contact, falls in it and does not rise above it again; the ball is flattened
/// and leaves with most of its momentum turned round.
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
    let flattest = (first..last).map(|k| {
        let (low, high) = run.extent(&run.frame(k + 1), "ball");
        (high.x - low.x) / 0.04
    });
    let flattest = flattest.fold(f64::INFINITY, f64::min);
    let back = -momentum(n - 1) / momentum(0);
    println!(
        "ball: contact from step {} to {}, {flattest:.2} of its diameter, energy {:.3}, momentum {back:.3}",
        first + 1,
        last + 1,
        energy(n - 1) / start
    );
    require(last + 1 < n && back > 0.6 && back < 1.0, || format!("momentum {back}"))?;
    require(flattest < 0.8 && flattest > 0.3, || format!("{flattest} of its diameter"))
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
