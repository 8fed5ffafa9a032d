//! What the scenes of `scenes/papers`, and those of thin bodies that follow single figures, announce under "What to see".

use super::Run;
use super::expect::require;
use standoff_linalg::Vec3;
use standoff_run::Frame;

/// The lowest vertex of a body of a frame.
fn lowest(run: &Run, frame: &Frame, body: &str) -> f64 {
    run.extent(frame, body).0.y
}

/// Bodies whose names begin so.
fn named<'a>(run: &'a Run, start: &'a str) -> impl Iterator<Item = &'a str> {
    run.info.bodies.iter().map(|b| b.name.as_str()).filter(move |n| n.starts_with(start))
}

/// The frame at a time, s.
fn at(run: &Run, time: f64) -> Frame {
    let last = run.frames() - 1;
    let step = run.frame(last).time / last as f64;
    run.frame((time / step).round() as usize)
}

/// The middle of the wall is wrung, and wider than the 26 mm that are required of the shell.
pub fn wrung_less_than_a_shell(run: &Run) -> Result<(), String> {
    let (start, last) = (run.frame(0), run.frame(run.frames() - 1));
    let middle = run.part(&start.positions, "tube").iter().zip(run.part(&last.positions, "tube"));
    let middle = middle.filter(|(a, _)| a.x.abs() < 0.035).map(|(_, x)| x.y.hypot(x.z));
    let radii: Vec<f64> = middle.collect();
    let radius = radii.iter().sum::<f64>() / radii.len() as f64;
    let contacts = run.reports[run.reports.len() - 1].contacts;
    println!("wall of a tube: middle of {radius:.4} m; {contacts} contacts");
    let wrung = radius > 0.026 && radius < 0.04 && contacts > 50;
    require(wrung, || format!("{radius} m, {contacts} contacts"))
}

/// Its border is far from the ball, as that of a coarse cloth is that hardly bends in two directions.
pub fn stands_off_the_ball(run: &Run) -> Result<(), String> {
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
    require(reach > 0.33 && lowest(run, &last, "cloth") < 0.0, || format!("{reach} m"))
}

/// The cloths lie on the mouth before the obstacle comes, and are below the pipe in the end.
pub fn pushed_through_the_funnel(run: &Run) -> Result<(), String> {
    let (before, last) = (at(run, 0.8), run.frame(run.frames() - 1));
    for k in 0..3 {
        let cloth = format!("cloth[0,{k},0]");
        let low = lowest(run, &before, &cloth);
        let fastest = run.part(&before.velocity, &cloth).iter().map(|v| v.norm());
        let fastest = fastest.fold(0.0, f64::max);
        require(low > 0.05 && fastest < 0.02, || {
            format!("{cloth} hangs down to {low} m, {fastest} m/s")
        })?;
        let high = run.extent(&last, &cloth).1.y;
        require(high < -0.15, || format!("{cloth} is still at {high} m"))?;
    }
    Ok(())
}

/// On the tips until it is pulled, beside the bed in the end.
pub fn slides_off_the_needles(run: &Run) -> Result<(), String> {
    let (before, last) = (at(run, 0.8), run.frame(run.frames() - 1));
    let middle = run.mean(&before.positions, "cloth");
    let high = run.extent(&before, "cloth").1.y;
    let rests = middle.x.abs() < 0.01 && high > 0.05 && high < 0.066;
    require(rests, || format!("at {middle}, up to {high} m"))?;
    let right = run.extent(&last, "cloth").1.x;
    require(right < -0.5, || format!("the cloth is still at {right} m"))
}

/// Falling hairs lie across the hanging ones; some of their ends are carried by the ball, others hang beside it.
pub fn caught_by_hair_and_ball(run: &Run) -> Result<(), String> {
    let last = run.frame(run.frames() - 1);
    let ends: Vec<Vec3> = named(run, "falling")
        .map(|n| *run.part(&last.positions, n).last().expect("a vertex"))
        .collect();
    let on_ball = ends.iter().filter(|x| x.x > 0.1 && x.y > -0.115).count();
    let beside = ends.iter().filter(|x| x.y < -0.115).count();
    let touched = named(run, "hanging")
        .filter(|n| run.part(&last.contact_force, n).iter().any(|f| f.norm() > 0.0))
        .count();
    println!("hair: {on_ball} on the ball, {beside} beside it, {touched} of 9 touched");
    require(on_ball > 0 && beside > 0 && touched > 4, || {
        format!("{on_ball} on the ball, {beside} beside it, {touched} touched")
    })
}

/// The box is smaller than the bodies are at rest (9.9 litres), which then lose their elastic energy and each other.
pub fn compacted_and_released(run: &Run) -> Result<(), String> {
    let volume = |k: usize| {
        let (low, high) = run.extent(&run.frame(k), "box");
        (high - low).product()
    };
    let least = (0..run.frames()).map(volume).fold(f64::INFINITY, f64::min);
    let energy = |k: usize| run.reports[k].elastic_energy;
    let n = run.reports.len();
    let most = (0..n).map(energy).fold(0.0, f64::max);
    let (left, contacts) = (energy(n - 1) / most, run.reports[n - 1].contacts);
    println!(
        "trash compactor: {:.2} litres, {left:.4} of the elastic energy left, {contacts} contacts",
        1e3 * least
    );
    require(least < 8.5e-3 && left < 0.05 && contacts < 30, || {
        format!("{least} m³, {left} of the energy left, {contacts} contacts")
    })
}

/// Pressed to less than half of its size, always in front of the wall, and away from it with its size restored.
pub fn squashed_by_the_wall(run: &Run) -> Result<(), String> {
    let width = |frame: &Frame| {
        let (low, high) = run.extent(frame, "ball");
        (high.x - low.x, high.x)
    };
    let start = width(&run.frame(0)).0;
    let mut least = f64::INFINITY;
    for k in 0..run.frames() {
        let (wide, front) = width(&run.frame(k));
        require(front < 0.0, || format!("the ball is at {front} m in frame {k}"))?;
        least = least.min(wide / start);
    }
    let last = run.frame(run.frames() - 1);
    let (restored, speed) = (width(&last).0 / start, run.mean(&last.velocity, "ball").x);
    println!("squishy ball: {least:.2} of its width, {restored:.2} in the end, {speed:.1} m/s");
    require(least < 0.5 && restored > 0.85 && speed < -1.0, || {
        format!("{least} and {restored} of its width, {speed} m/s")
    })
}

/// Pressed to about a quarter of their height, and off the floor afterwards.
pub fn pressed_in_a_frame(run: &Run) -> Result<(), String> {
    for ball in ["ball[0,0,0]", "ball[1,0,0]"] {
        let height = |k: usize| {
            let (low, high) = run.extent(&run.frame(k), ball);
            (high.y - low.y, low.y)
        };
        let start = height(0).0;
        let least = (0..run.frames()).map(|k| height(k).0 / start).fold(f64::INFINITY, f64::min);
        let after = at(run, 0.45).time / run.frame(run.frames() - 1).time;
        let after = (after * (run.frames() - 1) as f64) as usize;
        let jump = (after..run.frames()).map(|k| height(k).1).fold(0.0, f64::max);
        println!("{ball}: {least:.2} of its height, jumps by {:.1} mm", 1e3 * jump);
        require(least < 0.3 && jump > 4e-3, || format!("{ball}: {least}, jumps by {jump} m"))?;
    }
    Ok(())
}

/// Below the upper rollers and narrowed between the lower ones.
pub fn drawn_through_the_rollers(run: &Run) -> Result<(), String> {
    let last = run.frame(run.frames() - 1);
    let (middle, low) = (run.mean(&last.positions, "body"), lowest(run, &last, "body"));
    require(middle.y < 0.45 && low < 0.15 && middle.x.abs() < 0.05, || {
        format!("the body is at {middle}, its lower end at {low} m")
    })
}

/// The house stands until it is hit; then its upper boards are thrown over.
pub fn stands_until_it_is_hit(run: &Run) -> Result<(), String> {
    let (before, last) = (at(run, 0.6), run.frame(run.frames() - 1));
    let height = |frame: &Frame, k: usize| run.mean(&frame.positions, &format!("board {k}")).y;
    for k in 6..=7 {
        let stands = height(&before, k);
        require(stands > 0.47, || format!("board {k} is at {stands} m before it is hit"))?;
        let fallen = height(&last, k);
        require(fallen < 0.4, || format!("board {k} is at {fallen} m in the end"))?;
    }
    Ok(())
}

/// Some noodles are held above the bowl at rest, and are in the bowl again when the sticks have opened.
pub fn lifted_by_chopsticks(run: &Run) -> Result<(), String> {
    let (held, last) = (at(run, 2.0), run.frame(run.frames() - 1));
    let start = run.frame(0);
    let middle = |frame: &Frame, noodle: &str| {
        let all = run.part(&start.positions, noodle).iter().zip(run.part(&frame.positions, noodle));
        let y: Vec<f64> = all.filter(|(a, _)| a.z.abs() < 0.011).map(|(_, x)| x.y).collect();
        y.iter().sum::<f64>() / y.len() as f64
    };
    let noodles: Vec<&str> = named(run, "noodle").collect();
    let lifted: Vec<&str> = noodles.iter().copied().filter(|&n| middle(&held, n) > 0.04).collect();
    let fastest = lifted.iter().flat_map(|&n| run.part(&held.velocity, n)).map(|v| v.norm());
    let fastest = fastest.fold(0.0, f64::max);
    let force = |stick: &str| run.part(&held.contact_force, stick).iter().sum::<Vec3>();
    let (left, right) = (force("left stick"), force("right stick"));
    println!(
        "ramen: {} of 6 noodles held, {fastest:.3} m/s at most, {:.3} N by sticks pressed with {:.3} N",
        lifted.len(),
        -left.y - right.y,
        left.x.abs()
    );
    require(lifted.len() >= 3 && fastest < 0.1, || {
        format!("{} noodles held, {fastest} m/s at most", lifted.len())
    })?;
    let back = noodles.iter().all(|&n| middle(&last, n) < 0.0);
    require(back, || "a noodle still hangs on the sticks".into())
}

/// Below the plate, with the size that it had.
pub fn pushed_through_the_hole(run: &Run) -> Result<(), String> {
    let last = run.frame(run.frames() - 1);
    let (low, high) = run.extent(&last, "body");
    let (first, size) = (run.extent(&run.frame(0), "body"), high - low);
    let kept = size.norm() / (first.1 - first.0).norm();
    println!("hole: the body ends at {:.2} m with {kept:.3} of its diagonal", high.y);
    require(high.y < 0.0 && (kept - 1.0).abs() < 0.1, || format!("from {low} to {high}"))
}

/// Pressed against each other by the piston, and below the pipe with their shapes in the end.
pub fn squeezed_out(run: &Run) -> Result<(), String> {
    let most = run.reports.iter().map(|r| r.max_contacts).max().unwrap_or(0);
    let (start, last) = (run.frame(0), run.frame(run.frames() - 1));
    require(most > 500, || format!("{most} contacts at most"))?;
    // the distances between vertices at rest and in the end, which rotations do not change
    let spread = |frame: &Frame, body: &str| {
        let middle = run.mean(&frame.positions, body);
        let all = run.part(&frame.positions, body);
        (all.iter().map(|x| (x - middle).norm_squared()).sum::<f64>() / all.len() as f64).sqrt()
    };
    for body in ["ball", "block", "ring", "cone"] {
        let high = run.extent(&last, body).1.y;
        let kept = spread(&last, body) / spread(&start, body);
        println!("{body}: up to {high:.2} m, {kept:.3} of its size");
        require(high < -0.9 && (kept - 1.0).abs() < 0.1, || {
            format!("{body} is at {high} m with {kept} of its size")
        })?;
    }
    Ok(())
}
