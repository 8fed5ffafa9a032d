//! Animation scripts: which vertices are held, moved or accelerated when.
//!
//! Some scripts look at positions at the start of each step. Where these are the positions of
//! vertices whose motion is prescribed, the times follow from the script itself and are computed
//! here; only `dragright` depends on vertices that move freely.

use crate::clock::Clock;
use crate::error::{Located, Note, NoteKind, Problem};
use crate::language::{ReferenceScene, Script};
use crate::meshes::Meshes;
use crate::options;
use crate::plan::{Action, Effect, PlannedBody, Region, bounds};
use crate::select;
use standoff_linalg::Vec3;
use standoff_sim::definition::{Condition, Pivot};
use std::f64::consts::{FRAC_PI_2, PI};

/// Most changes of direction that `DCOSquash6` is unrolled to.
const MAX_TURNS: usize = 1000;

/// Adds what the script does to the bodies; the first `shapes` of them are shapes.
// long: an arm for each script of the reference
pub(crate) fn direct(
    scene: &ReferenceScene,
    bodies: &mut [PlannedBody],
    shapes: usize,
    meshes: &mut Meshes,
    notes: &mut Vec<Note>,
) -> Result<(), Located> {
    let clock = Clock::new(scene.time.value.0, scene.time.value.1);
    let (bodies, obstacles) = bodies.split_at_mut(shapes);
    check_held(scene, bodies)?;
    check_gates(scene, bodies)?;
    let mut stage = Stage { clock, bodies, scene };
    let result = match scene.script.value {
        Script::Null => return options::apply(scene, &clock, stage.bodies, meshes, notes),
        Script::Fall | Script::FallNoShift | Script::Fix => Ok(()),
        Script::Twist => stage.twist(),
        Script::HangLeft => stage.hang_left(),
        Script::FixLowerHalf => stage.fix_lower_half(),
        Script::StretchAndPause => stage.stretch_and_pause(),
        Script::PushRightMost => stage.push_right_most(),
        Script::DragRight => stage.drag_right(obstacles),
        Script::RotateCylinders => stage.turn(&[
            Vec3::new(FRAC_PI_2, 0.0, 0.0),
            Vec3::new(-FRAC_PI_2, 0.0, 0.0),
            Vec3::new(0.0, 0.0, -FRAC_PI_2),
            Vec3::new(0.0, 0.0, FRAC_PI_2),
        ]),
        Script::VerschoorRoller => stage.turn(&[
            Vec3::new(0.0, 0.0, -4.0),
            Vec3::new(0.0, 0.0, -2.0),
            Vec3::new(0.0, 0.0, 2.0),
            Vec3::new(0.0, 0.0, 4.0),
            Vec3::new(2.0, 0.0, 0.0),
            Vec3::new(-2.0, 0.0, 0.0),
        ]),
        Script::Squash => stage.squash(),
        Script::SegmentBedSquash => stage.segment_bed_squash(),
        Script::SqueezeOut => {
            let text = "the plunger of DCOSqueezeOut never moves in the published reference (it \
                        compares with NaN); it is held here, too"
                .to_owned();
            notes.push(Note { line: scene.script.line, kind: NoteKind::Quirk, text });
            Ok(())
        }
        Script::BallHitWall { speed } => {
            stage.bodies.iter_mut().filter(|b| b.elastic()).for_each(|b| b.velocity.0.x = speed);
            Ok(())
        }
        Script::UtopiaComparison => stage.utopia(),
    };
    result.map_err(|p| p.at(scene.script.line))?;
    if scene.script.value != Script::UtopiaComparison {
        options::loads(scene, &clock, bodies, notes);
    }
    options::note_dead(scene, notes);
    Ok(())
}

/// Refuses kinematic shapes that the script does not hold: in the reference they fall as loose
/// masses.
fn check_held(scene: &ReferenceScene, bodies: &[PlannedBody]) -> Result<(), Located> {
    let held = match scene.script.value {
        Script::Null
        | Script::Fix
        | Script::BallHitWall { .. }
        | Script::SegmentBedSquash
        | Script::SqueezeOut => bodies.len(),
        Script::RotateCylinders => 4,
        Script::Squash | Script::VerschoorRoller => 6,
        _ => 0,
    };
    match bodies.iter().skip(held).find(|b| !b.elastic()) {
        None => Ok(()),
        Some(body) => {
            let name = scene.script.value.name();
            Err(Problem::unsupported(
                format!(
                    "the kinematic shape '{}' under the script {name}, which does not hold it (in \
                     the reference it falls as a loose mass),",
                    body.name
                ),
                "use script DCOFix or none, or make it a meshCO",
            )
            .at(body.line))
        }
    }
}

/// Refuses `DBCTimeRange` where it would gate something other than `DBC` options.
fn check_gates(scene: &ReferenceScene, bodies: &[PlannedBody]) -> Result<(), Located> {
    let range = &scene.dirichlet_range;
    let moved = scene.script.value != Script::Null
        || scene.shapes.iter().any(|s| s.options.linear.is_some() || s.options.angular.is_some())
        || bodies.iter().any(|b| !b.elastic());
    if range.line == 0 || !moved {
        return Ok(());
    }
    let what = "DBCTimeRange together with scripts, moved shapes or kinematic shapes";
    Err(Problem::unsupported(what, "give each DBC option its own times").at(range.line))
}

/// The shapes on which a script acts.
struct Stage<'a> {
    clock: Clock,
    bodies: &'a mut [PlannedBody],
    scene: &'a ReferenceScene,
}

/// What happens to a group of vertices, all of the time unless times are set.
fn action(name: &str, effect: Effect) -> Action {
    Action {
        name: name.to_owned(),
        vertices: Vec::new(),
        region: Region::All,
        effect,
        t0: 0.0,
        t1: f64::INFINITY,
        until: None,
        comment: None,
    }
}

fn translation(x: f64, y: f64, z: f64) -> Effect {
    Effect::Rigid { linear: Vec3::new(x, y, z), angular: Vec3::zeros(), pivot: Pivot::StartCentre }
}

impl Stage<'_> {
    fn start_box(&self) -> (Vec3, Vec3) {
        bounds(self.bodies.iter().flat_map(|b| &b.start))
    }

    fn rest_box(&self) -> (Vec3, Vec3) {
        bounds(self.bodies.iter().flat_map(|b| &b.rest))
    }

    /// Does something to the vertices that pass a test of their rest and start positions; how
    /// many they are.
    fn act(&mut self, action: &Action, test: impl Fn(&Vec3, &Vec3) -> bool) -> usize {
        let mut count = 0;
        for body in self.bodies.iter_mut() {
            let vertices: Vec<u32> = (0..body.rest.len() as u32)
                .filter(|&v| test(&body.rest[v as usize], &body.start[v as usize]))
                .collect();
            count += vertices.len();
            if !vertices.is_empty() {
                let region = select::region(body, &vertices);
                body.actions.push(Action { vertices, region, ..action.clone() });
            }
        }
        count
    }

    /// Does something to all vertices of a shape.
    fn act_on_shape(&mut self, shape: usize, action: Action) {
        let body = &mut self.bodies[shape];
        let vertices = (0..body.rest.len() as u32).collect();
        body.actions.push(Action { vertices, region: Region::All, ..action });
    }

    fn need_shapes(&self, count: usize) -> Result<(), Problem> {
        if self.bodies.len() >= count {
            return Ok(());
        }
        let name = self.scene.script.value.name();
        Err(Problem::malformed(format!("the script {name} needs {count} shapes at least")))
    }

    fn twist(&mut self) -> Result<(), Problem> {
        let (lo, hi) = self.rest_box();
        let band = self.scene.handle_ratio.value * (hi.x - lo.x);
        let turn = |rate: f64| Effect::Rigid {
            linear: Vec3::zeros(),
            angular: Vec3::new(rate, 0.0, 0.0),
            pivot: Pivot::Point((lo + hi) / 2.0),
        };
        self.act(&action("left", turn(-0.4 * PI)), |x, _| x.x < lo.x + band);
        self.act(&action("right", turn(0.4 * PI)), |x, _| x.x > hi.x - band);
        Ok(())
    }

    fn hang_left(&mut self) -> Result<(), Problem> {
        let (lo, hi) = self.rest_box();
        let band = self.scene.handle_ratio.value * (hi.x - lo.x);
        self.act(&action("left", Effect::Hold), |x, _| x.x < lo.x + band);
        Ok(())
    }

    fn fix_lower_half(&mut self) -> Result<(), Problem> {
        let (lo, hi) = self.start_box();
        let middle = lo.y + 0.5 * (hi.y - lo.y);
        self.act(&action("lower-half", Effect::Hold), |_, v| v.y < middle);
        Ok(())
    }

    fn stretch_and_pause(&mut self) -> Result<(), Problem> {
        let (lo, hi) = self.start_box();
        let band = 0.01 * (hi.x - lo.x);
        let left = |v: &Vec3| v.x < lo.x + band;
        let watched = self.bodies.iter().rev().flat_map(|b| b.start.iter().rev()).find(|v| left(v));
        let Some(mut x) = watched.map(|v| v.x) else {
            return Err(Problem::malformed("the script stretchAndPause finds no left end"));
        };
        // the highest left vertex stops the motion, at an absolute position
        let mut moving = 0;
        while moving < self.clock.steps && x >= -0.28 {
            x -= self.clock.h;
            moving += 1;
        }
        let pause = match moving {
            m if m == self.clock.steps => f64::INFINITY,
            m => self.clock.before(m),
        };
        let comment = "stretchAndPause: pulled until the left end is beyond x = -0.28 at the start \
                       of a step, then held";
        for (name, speed, side) in [("left", -1.0, true), ("right", 1.0, false)] {
            let test = |v: &Vec3| if side { left(v) } else { v.x > hi.x - band };
            if pause > 0.0 {
                let mut pull = action(name, translation(speed, 0.0, 0.0));
                (pull.t1, pull.comment) = (pause, Some(comment.to_owned()));
                self.act(&pull, |_, v| test(v));
            }
            if pause.is_finite() {
                let mut hold = action(name, Effect::Hold);
                hold.t0 = pause;
                self.act(&hold, |_, v| test(v));
            }
        }
        Ok(())
    }

    fn push_right_most(&mut self) -> Result<(), Problem> {
        let (lo, hi) = self.start_box();
        let right = |v: &Vec3| v.x > hi.x - 1e-3 * (hi.x - lo.x);
        let push = action("tip", translation(-0.15, 0.0, 0.0));
        for body in self.bodies.iter_mut() {
            if let Some(first) = body.start.iter().position(right) {
                let vertices = vec![first as u32];
                let region = select::region(body, &vertices);
                body.actions.push(Action { vertices, region, ..push });
                return Ok(());
            }
        }
        Ok(())
    }

    fn drag_right(&mut self, obstacles: &[PlannedBody]) -> Result<(), Problem> {
        if obstacles.is_empty() {
            let what = "the script dragright needs a meshCO, past which it drags";
            return Err(Problem::malformed(what));
        }
        let (lo, hi) = self.start_box();
        let end = bounds(obstacles.iter().flat_map(|b| &b.start)).1.x;
        let mut drag = action("right", translation(0.5, 0.0, 0.0));
        drag.until = Some(Condition::AllBeyond {
            bodies: (0..self.bodies.len()).collect(),
            normal: Vec3::x(),
            offset: end,
        });
        drag.comment = Some(
            "dragright: let go once every vertex of the shapes is to the right of the obstacles"
                .to_owned(),
        );
        self.act(&drag, |_, v| v.x > hi.x - 0.04 * (hi.x - lo.x));
        Ok(())
    }

    /// Turns the first shapes about the centres of their boxes at the start.
    fn turn(&mut self, rates: &[Vec3]) -> Result<(), Problem> {
        self.need_shapes(rates.len())?;
        for (shape, rate) in rates.iter().enumerate() {
            let effect =
                Effect::Rigid { linear: Vec3::zeros(), angular: *rate, pivot: Pivot::StartCentre };
            self.act_on_shape(shape, action("turn", effect));
        }
        Ok(())
    }

    /// Shapes 0 and 1, 2 and 3, 4 and 5 approach each other along x, y, z; whenever the gap of
    /// the first two is below 0.1 m at the start of a step, all reverse.
    fn squash(&mut self) -> Result<(), Problem> {
        self.need_shapes(6)?;
        let mut left = bounds(&self.bodies[0].start).1.x;
        let mut right = bounds(&self.bodies[1].start).0.x;
        let mut sign = 1.0;
        let mut turns = vec![(0, sign)];
        for step in 0..self.clock.steps {
            if right - left < 0.1 {
                sign = -sign;
                turns.push((step, sign));
            }
            left += sign * self.clock.h;
            right -= sign * self.clock.h;
        }
        if turns.len() > MAX_TURNS {
            let what = "DCOSquash6 whose shapes start less than 0.1 m apart and reverse in \
                        every step";
            return Err(Problem::unsupported(what, "place them further apart"));
        }
        for (k, &(step, sign)) in turns.iter().enumerate() {
            let end = turns.get(k + 1).map(|(next, _)| *next);
            if end == Some(step) {
                continue;
            }
            for shape in 0..6 {
                let inward = if shape % 2 == 0 { sign } else { -sign };
                let mut linear = Vec3::zeros();
                linear[shape / 2] = inward;
                let mut squash = action("squash", translation(linear.x, linear.y, linear.z));
                squash.t0 = self.clock.before(step);
                squash.t1 = end.map_or(f64::INFINITY, |e| self.clock.before(e));
                self.act_on_shape(shape, squash);
            }
        }
        Ok(())
    }

    /// The upper kinematic shapes come down at 1 m/s while they are more than 0.1 m above the
    /// lower ones at the start of a step.
    fn segment_bed_squash(&mut self) -> Result<(), Problem> {
        let upper = self.bodies.len().div_ceil(2);
        let kinematic = |b: &&PlannedBody| !b.elastic();
        let lower_bodies = self.bodies[..upper].iter().filter(kinematic);
        let top = bounds(lower_bodies.flat_map(|b| &b.start)).1.y;
        let upper_bodies = self.bodies[upper..].iter().filter(kinematic);
        let mut bottom = bounds(upper_bodies.flat_map(|b| &b.start)).0.y;
        let mut steps = 0;
        while steps < self.clock.steps && bottom - top > 0.1 {
            bottom -= self.clock.h;
            steps += 1;
        }
        if steps == 0 {
            return Ok(());
        }
        let mut sink = action("squash", translation(0.0, -1.0, 0.0));
        if steps < self.clock.steps {
            sink.t1 = self.clock.before(steps);
            let text = "DCOSegBedSquash: stops when less than 0.1 m is left at the start of a step";
            sink.comment = Some(text.to_owned());
        }
        for shape in upper..self.bodies.len() {
            if !self.bodies[shape].elastic() {
                self.act_on_shape(shape, sink.clone());
            }
        }
        Ok(())
    }

    fn utopia(&mut self) -> Result<(), Problem> {
        let (lo, hi) = self.start_box();
        // both bands are a share of the width, not of the height
        let band = 1e-4 * (hi.x - lo.x);
        let top = |v: &Vec3| v.y > hi.y - band;
        let factor = options::load_factor(self.scene);
        let push = Effect::Accelerate(factor * Vec3::new(0.0, -1.5, 0.0));
        self.act(&action("top", push), |_, v| top(v));
        self.act(&action("bottom", Effect::Hold), |_, v| v.y < lo.y + band && !top(v));
        Ok(())
    }
}
