//! Ties: bodies of two meshes that are glued, against bodies of one mesh and closed forms; balances, and what is refused.

use crate::common::{block, converge, scene};
use standoff_geometry::quadratic;
use standoff_linalg::Vec3;
use standoff_linalg::nalgebra::Rotation3;
use standoff_sim::Simulation;
use standoff_sim::definition::{
    BendingModel, BodyDef, BodyKind, Definition, ForceDef, Load, Motion, PrescribedDef,
    ShellMaterial, TieDef,
};
use standoff_sim::energy::membrane::Sheet;
use standoff_sim::material::membrane::{MembraneLaw, SheetLame};
use standoff_sim::settings::{Integrator, Method};

/// Young's modulus of the blocks, Pa.
const E: f64 = 1e5;

fn curved(mut body: BodyDef) -> BodyDef {
    if let BodyKind::Volume { tets, middles, .. } = &mut body.kind {
        quadratic::add_middles(tets, middles, &mut body.rest);
    }
    body
}

fn of_order(quadratic: bool, body: BodyDef) -> BodyDef {
    if quadratic { curved(body) } else { body }
}

fn tie(tolerance: Option<f64>) -> TieDef {
    TieDef { name: "glue".into(), bodies: [0, 1], vertices: None, tolerance }
}

/// The masses of the vertices of a body by itself.
fn own_masses(body: &BodyDef) -> Vec<f64> {
    Simulation::new(&scene(vec![body.clone()])).unwrap().model().mass.clone()
}

fn select(body: &BodyDef, inside: impl Fn(&Vec3) -> bool) -> Vec<u32> {
    (0..body.rest.len() as u32).filter(|v| inside(&body.rest[*v as usize])).collect()
}

/// Two parts of a bar along x with a cross-section of 0.3 × 0.3 m about the x axis that meet at x = 0.6 without matching, the second one
/// `gap` farther; 1.2 m long.
fn bar(quadratic: bool, gap: f64) -> Definition {
    let left = block("left", [0.0, -0.15, -0.15], [4, 2, 2], 0.15);
    let right = block("right", [0.6 + gap, -0.15, -0.15], [6, 3, 3], 0.1);
    let mut d = scene(vec![of_order(quadratic, left), of_order(quadratic, right)]);
    d.ties.push(tie(Some(0.02)));
    d.settings.time.integrator = Integrator::QuasiStatic;
    d.settings.time.step = 1.0;
    d.settings.contact.d_hat = Some(1e-3);
    d
}

/// The same of one mesh, with the cells of the left piece, or those of the right one.
fn whole(quadratic: bool, coarse: bool) -> Definition {
    let mut d = bar(quadratic, 0.0);
    d.ties.clear();
    let (n, cell) = if coarse { ([8, 2, 2], 0.15) } else { ([12, 3, 3], 0.1) };
    d.bodies = vec![of_order(quadratic, block("bar", [0.0, -0.15, -0.15], n, cell))];
    d
}

/// What is glued lies between bodies of one mesh with either size of cells, or as near to them as `beside`.
fn is_between(what: &str, tied: f64, [coarse, fine]: [f64; 2], beside: f64) {
    println!("{what}: {tied:.5e} tied, {coarse:.5e} and {fine:.5e} of one mesh");
    let (low, high) = (coarse.min(fine), coarse.max(fine));
    assert!(tied > low * (1.0 - beside) && tied < high * (1.0 + beside), "{what}");
}

fn clamp(d: &mut Definition) {
    let left = select(&d.bodies[0], |p| p.x < 1e-9);
    d.prescribed.push(PrescribedDef::new("clamp", 0, left, Motion::Fixed));
}

/// A force on each vertex of the end.
fn pull(d: &mut Definition, force: Vec3) {
    let last = d.bodies.len() - 1;
    let vertices = select(&d.bodies[last], |p| p.x > 1.2 - 1e-9);
    let load = Load::Force(force.into());
    d.forces.push(ForceDef {
        name: "end".into(),
        body: last,
        vertices,
        load,
        t0: 0.0,
        t1: f64::INFINITY,
    });
}

fn settled(d: Definition) -> Simulation {
    converge(d, 1e-9, 1).1
}

/// The mean displacement of the end.
fn end(s: &Simulation, d: &Definition) -> Vec3 {
    let last = d.bodies.len() - 1;
    let first = s.model().bodies[last].vertices.start;
    let end = select(&d.bodies[last], |p| p.x > 1.2 - 1e-9);
    let moved =
        end.iter().map(|&v| s.positions()[first + v as usize] - d.bodies[last].rest[v as usize]);
    moved.sum::<Vec3>() / end.len() as f64
}

/// Tension, bending and torsion of two glued pieces are those of one.
#[test]
fn two_glued_pieces_are_one_bar() {
    for quadratic in [false, true] {
        for (what, force) in [("tension", Vec3::x()), ("bending", Vec3::y())] {
            let of = |mut d: Definition| {
                clamp(&mut d);
                pull(&mut d, force);
                let s = settled(d.clone());
                end(&s, &d).dot(&force)
            };
            let tied = of(bar(quadratic, 0.0));
            let one = [true, false].map(|coarse| of(whole(quadratic, coarse)));
            is_between(&format!("{what}, quadratic {quadratic}"), tied, one, 5e-3);
            if quadratic && what == "bending" {
                // Timoshenko: F L³/(3 E I) + F L/(5/6 G A)
                let (l, a) = (1.2_f64, 0.3_f64);
                let beam =
                    l.powi(3) / (3.0 * E * a.powi(4) / 12.0) + l / (5.0 / 6.0 * E / 2.8 * a * a);
                assert!((tied / beam - 1.0).abs() < 0.06, "{tied:e} {beam:e}");
            }
        }
    }
}

/// A turn of the end about the bar's axis needs the torque of a bar of one mesh.
#[test]
fn torsion_goes_through_a_tie() {
    let of = |mut d: Definition| {
        clamp(&mut d);
        let last = d.bodies.len() - 1;
        let end = select(&d.bodies[last], |p| p.x > 1.2 - 1e-9);
        let turn = Motion::Rigid {
            linear: Vec3::zeros(),
            angular: 0.01 * Vec3::x(),
            pivot: standoff_sim::definition::Pivot::Point(Vec3::zeros()),
        };
        d.prescribed.push(PrescribedDef::new("turn", last, end, turn));
        let (reports, _) = converge(d, 1e-9, 1);
        let torque = |name: &str| Vec3::from(reports[0].forces.held[name].torque);
        let [clamp, turn] = [torque("clamp"), torque("turn")];
        assert!((clamp + turn).norm() < 1e-6 * turn.norm(), "{clamp} {turn}");
        turn.x
    };
    for quadratic in [false, true] {
        let tied = of(bar(quadratic, 0.0));
        let one = [true, false].map(|coarse| of(whole(quadratic, coarse)));
        is_between(&format!("torsion, quadratic {quadratic}"), tied, one, 5e-3);
    }
}

/// The greatest difference of an element's mean stress along x from `whole`, in terms of that.
fn stress_error(s: &Simulation, whole: f64) -> f64 {
    s.stresses().iter().map(|t| (t[(0, 0)] / whole - 1.0).abs()).fold(0.0, f64::max)
}

/// A uniform stretch along x goes through a tie of meshes that do not match: vertices of one surface follow the other exactly, and what is not uniform is
/// how the forces of one mesh are handed to the nodes of the other. Measured with Poisson's ratio 0.
#[test]
fn a_uniform_stretch_goes_through_a_tie() {
    for (quadratic, most) in [(false, [0.02, 0.15]), (true, [0.01, 0.09])] {
        let mut d = bar(quadratic, 0.0);
        for body in &mut d.bodies {
            if let BodyKind::Volume { material, .. } = &mut body.kind {
                material.poisson_ratio = 0.0;
            }
        }
        clamp(&mut d);
        let last = select(&d.bodies[1], |p| p.x > 1.2 - 1e-9);
        let motion = Motion::Rigid {
            linear: 1.2e-3 * Vec3::x(),
            angular: Vec3::zeros(),
            pivot: standoff_sim::definition::Pivot::Point(Vec3::zeros()),
        };
        d.prescribed.push(PrescribedDef::new("end", 1, last, motion));
        let (reports, s) = converge(d.clone(), 1e-10, 1);
        let force = Vec3::from(reports[0].forces.held["end"].force).x;
        let rest: Vec<Vec3> = d.bodies.iter().flat_map(|b| b.rest.clone()).collect();
        let wrong = |(x, r): (&Vec3, &Vec3)| (x - r - 1e-3 * r.x * Vec3::x()).norm();
        let error = s.positions().iter().zip(&rest).map(wrong).fold(0.0, f64::max) / 1.2e-3;
        let stress = stress_error(&s, E * 1e-3);
        let part = force / (E * 1e-3 * 0.09);
        println!(
            "quadratic {quadratic}: displacements off by {error:.2e} of the greatest, force {part:.4}, stresses off by {stress:.3}"
        );
        assert!((part - 1.0).abs() < 0.003, "{part}");
        assert!(error < most[0] && stress < most[1], "{error:e} {stress}");
    }
}

/// Whatever the distance at the start, a rigid motion of what carries is one of what is tied.
#[test]
fn tied_vertices_turn_with_what_carries_them() {
    let turn = Rotation3::new(Vec3::new(0.7, -1.1, 0.4));
    let shift = Vec3::new(0.3, -2.0, 1.0);
    for quadratic in [false, true] {
        for gap in [0.0, 0.015, -0.01] {
            let mut d = bar(quadratic, gap);
            clamp(&mut d);
            let s = Simulation::new(&d).unwrap();
            let right: Vec<Vec3> = s.positions().iter().map(|x| turn * x + shift).collect();
            let mut x = right.clone();
            let first = s.model().bodies[1].vertices.start;
            let map = &s.model().map;
            let tied: Vec<usize> = (first..x.len()).filter(|v| map.is_carried(*v)).collect();
            let per_side: usize = if quadratic { 7 } else { 4 };
            assert_eq!(tied.len(), per_side * per_side);
            tied.iter().for_each(|&v| x[v] = Vec3::zeros());
            map.spread(&mut x);
            for v in tied {
                assert!((x[v] - right[v]).norm() < 4e-15 * 3.0, "{quadratic} {gap} {v}");
            }
        }
    }
}

/// Momentum and moment of momentum of glued bodies that move, spin and swing freely do not change: Σ m (v' − v) and Σ x' × m (v' − v) vanish.
#[test]
fn momenta_do_not_change() {
    for (quadratic, gap) in [(false, 0.0), (false, 0.01), (true, 0.0)] {
        let mut d = bar(quadratic, gap);
        d.settings.time.integrator = Integrator::ImplicitEuler;
        d.settings.time.step = 0.01;
        for body in &mut d.bodies {
            let spin = |p: &Vec3| {
                Vec3::new(0.1, 0.2, 0.3)
                    + Vec3::new(0.5, 1.0, 3.0).cross(p)
                    + Vec3::new(0.3 * p.x, 0.0, 0.0)
            };
            body.velocity = body.rest.iter().map(spin).collect();
        }
        d.settings.solver.end.velocity = Some(1e-11);
        let mut s = Simulation::new(&d).unwrap();
        let masses: f64 = s.model().mass.iter().sum();
        if gap == 0.0 {
            // masses go to where they were
            let own: Vec<f64> = d.bodies.iter().flat_map(own_masses).collect();
            let centre = |m: &[f64]| m.iter().zip(s.positions()).map(|(m, x)| *m * x).sum::<Vec3>();
            let moved = (centre(&s.model().mass) - centre(&own)) / masses;
            assert!(moved.norm() < 1e-14, "{moved}");
        }
        assert!((masses - 1000.0 * 0.09 * 1.2).abs() < 1e-9 * masses, "{masses}");
        for _ in 0..5 {
            let before = s.state().v.clone();
            s.step().unwrap();
            let (model, state) = (s.model(), s.state());
            let change = |v: usize| model.mass[v] * (state.v[v] - before[v]);
            let all = 0..state.v.len();
            let linear: Vec3 = all.clone().map(change).sum();
            let angular: Vec3 = all.clone().map(|v| state.x[v].cross(&change(v))).sum();
            let scale: f64 = all.map(|v| change(v).norm()).sum();
            println!("{:e} {:e}", linear.norm() / scale, angular.norm() / scale);
            assert!(linear.norm() < 1e-12 * scale, "{:e}", linear.norm() / scale);
            assert!(angular.norm() < 1e-12 * scale, "{:e}", angular.norm() / scale);
        }
    }
}

/// Gravity, a force on tied vertices and a pressure on the other piece are what the clamp bears, in forces and moments.
#[test]
fn a_clamp_bears_all_loads() {
    for (quadratic, gap) in [(false, 0.0), (false, 0.01), (true, 0.0)] {
        let mut d = bar(quadratic, gap);
        clamp(&mut d);
        d.gravity = Vec3::new(0.0, -0.1, 0.0);
        let tied = select(&d.bodies[1], |p| p.x < 0.65);
        let top = select(&d.bodies[0], |p| p.y > 0.15 - 1e-9);
        let load = |name: &str, body, vertices, load| ForceDef {
            name: name.into(),
            body,
            vertices,
            load,
            t0: 0.0,
            t1: f64::INFINITY,
        };
        let loaded = tied.clone();
        d.forces.push(load("tied", 1, tied, Load::Force(Vec3::new(0.2, 0.3, 0.5).into())));
        d.forces.push(load(
            "top",
            0,
            top,
            Load::Pressure(standoff_sim::definition::expression::Expression::constant(1.0)),
        ));
        let (reports, s) = converge(d.clone(), 1e-10, 1);
        let forces = &reports[0].forces;
        let model = s.model();
        let weigh = |v: usize| {
            model.mass[v] * (1.0 + model.weight_excess.get(v).copied().unwrap_or(0.0)) * d.gravity
        };
        let all = 0..s.positions().len();
        let weight: Vec3 = all.clone().map(weigh).sum();
        let moment: Vec3 = all.map(|v| s.positions()[v].cross(&weigh(v))).sum();
        let sum = |of: fn(&standoff_sim::report::Resultant) -> [f64; 3]| -> Vec3 {
            forces.loads.values().map(|l| Vec3::from(of(l))).sum()
        };
        // a load goes by the masses that the vertices have in their own body, and acts where these are
        let own = own_masses(&d.bodies[1]);
        let first = model.bodies[1].vertices.start;
        let place = |v: &u32| own[*v as usize] * s.positions()[first + *v as usize];
        let mass: f64 = loaded.iter().map(|v| own[*v as usize]).sum();
        let centre = loaded.iter().map(place).sum::<Vec3>() / mass;
        let load = &forces.loads["tied"];
        let lever = Vec3::from(load.torque) - centre.cross(&Vec3::from(load.force));
        assert!(lever.norm() < 1e-12, "{lever}");
        let held = &forces.held["clamp"];
        let force = Vec3::from(held.force) + weight + sum(|l| l.force);
        let torque = Vec3::from(held.torque) + moment + sum(|l| l.torque);
        assert!((weight.norm() - 0.1 * 108.0).abs() < 1e-6, "{weight}");
        assert!((Vec3::from(forces.loads["tied"].force) - Vec3::new(0.2, 0.3, 0.5)).norm() < 1e-9);
        println!("{:e} {:e}", force.norm() / weight.norm(), torque.norm() / moment.norm());
        assert!(force.norm() < 1e-6 * weight.norm(), "{force} {weight}");
        assert!(torque.norm() < 1e-6 * moment.norm(), "{torque} {moment}");
    }
}

/// A glued pair that falls onto the ground: contact acts on what is tied, and both solvers end at about the same place.
#[test]
fn glued_bodies_touch_other_things() {
    let of = |method| {
        let upper = block("upper", [0.0, 0.2, 0.0], [3, 1, 3], 0.1);
        let lower = block("lower", [-0.1, 0.01, -0.1], [5, 1, 5], 0.19 / 1.9);
        let mut lower = lower;
        lower.rest.iter_mut().for_each(|p| p.y = if p.y > 0.05 { 0.2 } else { p.y });
        let mut d = scene(vec![upper, lower]);
        d.ties.push(tie(None));
        d.gravity = Vec3::new(0.0, -9.81, 0.0);
        d.half_spaces.push(crate::common::ground(0.0));
        d.settings.time.step = 0.01;
        d.settings.solver.method = method;
        let mut s = Simulation::new(&d).unwrap();
        let mut touched = false;
        for _ in 0..15 {
            let report = s.step().unwrap();
            touched |= report.forces.half_spaces["ground"].force[1] != 0.0;
            assert!(s.audit().is_empty());
            let deviation = s.model().map.deviation(s.positions()).unwrap().1;
            assert!(deviation < 1e-14, "{deviation:e}");
        }
        assert!(touched);
        s
    };
    let [a, b] = [Method::Barrier, Method::BarrierFree].map(of);
    let difference = crate::common::difference(&a, &b);
    println!("{difference:e}");
    assert!(difference < 5e-3, "{difference:e}");
}

fn refused(d: &Definition, words: &[&str]) {
    let error = Simulation::new(d).err().expect("it is refused").to_string();
    for word in words {
        assert!(error.contains(word), "'{error}' lacks '{word}'");
    }
}

/// Wrong ties are refused with what is wrong.
#[test]
fn what_cannot_be_tied_is_refused() {
    let good = || {
        let mut d = bar(false, 0.0);
        clamp(&mut d);
        d
    };
    Simulation::new(&good()).unwrap();
    let with = |change: &dyn Fn(&mut Definition)| {
        let mut d = good();
        change(&mut d);
        d
    };
    refused(
        &with(&|d| d.bodies[1].rest.iter_mut().for_each(|p| p.x += 0.5)),
        &["tie 'glue'", "5.000e-1 m", "tolerance"],
    );
    refused(&with(&|d| d.ties[0].bodies = [0, 0]), &["tie 'glue'", "to itself"]);
    refused(&with(&|d| d.ties[0].bodies = [0, 7]), &["glue", "index of a body"]);
    refused(&with(&|d| d.ties[0].tolerance = Some(-1.0)), &["glue", "tolerance must be positive"]);
    refused(&with(&|d| d.ties[0].tolerance = Some(f64::NAN)), &["glue", "finite"]);
    refused(
        &with(&|d| d.ties[0].tolerance = Some(0.5)),
        &["tie 'glue'", "high", "smaller `tolerance`"],
    );
    refused(&with(&|d| d.ties[0].vertices = Some(vec![9999])), &["vertex 9999 of 'left'"]);
    refused(
        &with(&|d| d.ties[0].vertices = Some(vec![0])),
        &["none of the 1 vertices", "6.000e-1 m"],
    );
    refused(
        &with(&|d| d.ties.push(TieDef { name: "again".into(), ..tie(Some(0.02)) })),
        &["tie 'again'", "tie 'glue' ties it already"],
    );
    refused(
        &with(&|d| {
            let all = select(&d.bodies[1], |_| true);
            d.prescribed.push(PrescribedDef::new("grip", 1, all, Motion::Fixed));
        }),
        &["'grip' moves vertex", "tie 'glue'"],
    );
    refused(&with(&|d| d.settings.solver.method = Method::Dot), &["tie 'glue'", "\"barrier\""]);
    refused(
        &with(&|d| {
            d.bodies[1].kind = BodyKind::Obstacle {
                triangles: vec![[0, 1, 5]],
                edges: Vec::new(),
                points: Vec::new(),
            };
        }),
        &["'right' is an obstacle"],
    );
    refused(
        &with(&|d| {
            let own = select(&d.bodies[0], |p| p.x > 0.6 - 1e-9);
            d.ties.push(TieDef { name: "back".into(), vertices: Some(own), ..tie(Some(0.02)) });
        }),
        &["tie 'back'", "what another tie ties"],
    );
}

/// Two glued blocks that fall onto the ground.
fn falling() -> Definition {
    let mut d = bar(false, 0.0);
    d.settings.time.integrator = Integrator::Bdf2;
    d.settings.time.step = 0.01;
    d.gravity = Vec3::new(0.0, -9.81, 0.0);
    d.half_spaces.push(crate::common::ground(-0.152));
    d
}

/// A run that continues from a saved state, and one with another number of threads, have the same bits.
#[test]
fn ties_are_deterministic() {
    let bits = |s: &Simulation| -> Vec<u64> {
        s.positions()
            .iter()
            .flatten()
            .chain(s.state().v.iter().flatten())
            .map(|c| c.to_bits())
            .collect()
    };
    let d = falling();
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut s = Simulation::new(&d).unwrap();
            let mut states = Vec::new();
            for _ in 0..6 {
                s.step().unwrap();
                states.push(s.state().clone());
            }
            (bits(&s), states)
        })
    };
    let (one, states) = run(1);
    assert!(run(2).0 == one, "2 threads differ");
    let mut resumed = Simulation::restore(&d, states[2].clone()).unwrap();
    (3..6).for_each(|_| drop(resumed.step().unwrap()));
    assert!(bits(&resumed) == one, "resumed differs");
}

/// Two pieces that stand side by side on a floor, of which none is held but by being glued to the other, are at rest together.
#[test]
fn what_is_glued_to_what_is_held_is_held() {
    let mut d = bar(false, 0.0);
    let refused = Simulation::new(&d).err().unwrap().to_string();
    assert!(refused.contains("free to move"), "{refused}");
    clamp(&mut d);
    Simulation::new(&d).unwrap();
    d.ties.clear();
    // what meets without a tie has no gap
    assert!(Simulation::new(&d).is_err());
}

/// Beside the tie the two bodies touch each other: a flap of the first, folded over the second by a prescription, stops at it.
#[test]
fn elsewhere_glued_bodies_collide() {
    // an L: a long plate with a block glued at its one end, and a second part of the same block that hangs over the plate
    let plate = block("plate", [0.0, 0.0, 0.0], [8, 1, 2], 0.1);
    let mut hook = block("hook", [0.0, 0.1, 0.0], [6, 2, 2], 0.1);
    // all but the first columns is above the plate by 0.1 m: the lower cells there are taken away
    if let BodyKind::Volume { tets, .. } = &mut hook.kind {
        let rest = hook.rest.clone();
        tets.retain(|t| {
            let centre: Vec3 = t.iter().map(|v| rest[*v as usize]).sum::<Vec3>() / 4.0;
            centre.x < 0.2 || centre.y > 0.2
        });
        let mut used: Vec<u32> = tets.iter().flatten().copied().collect();
        used.sort_unstable();
        used.dedup();
        tets.iter_mut().flatten().for_each(|v| *v = used.binary_search(v).unwrap() as u32);
        hook.rest = used.iter().map(|v| rest[*v as usize]).collect();
    }
    let mut d = scene(vec![plate, hook]);
    d.ties.push(tie(None));
    d.settings.time.integrator = Integrator::QuasiStatic;
    d.settings.time.step = 0.25;
    d.settings.contact.d_hat = Some(2e-3);
    let floor = select(&d.bodies[0], |p| p.y < 1e-9);
    d.prescribed.push(PrescribedDef::new("floor", 0, floor, Motion::Fixed));
    let tip = select(&d.bodies[1], |p| p.x > 0.6 - 1e-9);
    let press = Load::Force(Vec3::new(0.0, -40.0, 0.0).into());
    d.forces.push(ForceDef {
        name: "press".into(),
        body: 1,
        vertices: tip,
        load: press,
        t0: 0.0,
        t1: f64::INFINITY,
    });
    let mut s = Simulation::new(&d).unwrap();
    let report = s.step().unwrap();
    assert!(s.audit().is_empty());
    let push = report.forces.pairs["hook"]["plate"].force[1];
    assert!(push > 1.0, "{push}");
    let lowest =
        s.positions()[s.model().bodies[1].vertices.clone()].iter().map(|p| p.y).fold(1.0, f64::min);
    assert!(lowest > 0.1 - 0.05, "{lowest}");
}

fn sheet(name: &str, height: f64) -> BodyDef {
    let at = |k: u32| Vec3::new(0.1 * f64::from(k / 4), height, 0.1 * f64::from(k % 4));
    let v = |i: u32, j: u32| 4 * i + j;
    let cell = |(i, j): (u32, u32)| {
        [[v(i, j), v(i, j + 1), v(i + 1, j + 1)], [v(i, j), v(i + 1, j + 1), v(i + 1, j)]]
    };
    let cells = (0..3).flat_map(|i| (0..3).map(move |j| (i, j)));
    let material = ShellMaterial {
        thickness: 2e-3,
        density: 500.0,
        sheet: Sheet::Isotropic(MembraneLaw::StVenantKirchhoff, SheetLame::new(1e6, 0.3)),
        fibre: None,
        bending_modulus: 1e-4,
        bending_model: BendingModel::Hinge,
        poisson_ratio: 0.3,
        flat: false,
        stretch_limit: None,
    };
    BodyDef {
        name: name.into(),
        rest: (0..16).map(at).collect(),
        kind: BodyKind::Shell {
            triangles: cells.flat_map(cell).collect(),
            material: Box::new(material),
        },
        friction_material: "default".into(),
        ..BodyDef::default()
    }
}

/// A shell on a solid follows it, whichever is named first, and gives it its mass. Shells carry nothing.
#[test]
fn a_shell_is_tied_to_a_solid() {
    let lower = block("block", [-0.05, 0.0, -0.05], [4, 1, 4], 0.1);
    let mut d = scene(vec![lower.clone(), sheet("skin", 0.101)]);
    d.ties.push(tie(Some(2e-3)));
    d.settings.time.step = 0.01;
    d.bodies[0].velocity =
        d.bodies[0].rest.iter().map(|p| Vec3::new(0.0, 5.0 * p.x * p.z, 1.0)).collect();
    let mut s = Simulation::new(&d).unwrap();
    let first = s.model().bodies[1].vertices.start;
    assert!((first..first + 16).all(|v| s.model().map.is_carried(v)));
    let whole: f64 = s.model().mass.iter().sum();
    let expected = 1000.0 * 0.16 * 0.1 + 500.0 * 2e-3 * 0.09;
    assert!((whole - expected).abs() < 1e-12 * expected, "{whole}");
    (0..4).for_each(|_| drop(s.step().unwrap()));
    assert!(s.model().map.deviation(s.positions()).unwrap().1 < 1e-14);
    assert!(s.audit().is_empty());
    let moved = s.positions()[first..first + 16].to_vec();
    let error = s.set_positions(first, &moved.iter().map(|x| x + Vec3::y()).collect::<Vec<_>>());
    let error = error.unwrap_err().to_string();
    assert!(error.contains("tie 'glue' glues it"), "{error}");
    let mut chosen = d.clone();
    chosen.ties[0].vertices = Some(vec![0, 1, 2]);
    refused(&chosen, &["'skin' is a shell", "name it first"]);
    let mut shells = scene(vec![sheet("one", 0.0), sheet("two", 0.001)]);
    shells.ties.push(tie(Some(2e-3)));
    refused(&shells, &["'one' and 'two' are shells"]);
}

/// Bodies in two dimensions have no ties.
#[test]
fn ties_in_the_plane_are_refused() {
    let at = |shift: f64| move |i: usize, j: usize| [0.1 * i as f64 + shift, 0.1 * j as f64];
    let mut d = scene(vec![
        crate::common::grid("left", [2, 2], at(0.0)),
        crate::common::grid("right", [2, 2], at(0.2)),
    ]);
    d.dimension = standoff_sim::definition::Dimension::Two;
    d.ties.push(tie(None));
    refused(&d, &["tie 'glue'", "two dimensions"]);
}

/// Layers of one element each, glued one on another with gaps: the nodes below a layer carry the one above, and are carried themselves. In whatever order the ties are given, a rigid motion of
/// what is left is one of all, masses add up, and momenta do not change.
#[test]
fn layers_are_glued_one_on_another() {
    let run = |ties: [[usize; 2]; 2]| {
        let mut d = scene(vec![
            block("bottom", [0.0, 0.0, 0.0], [2, 1, 2], 0.15),
            block("middle", [0.0, 0.152, 0.0], [3, 1, 3], 0.1),
            block("top", [0.0, 0.255, 0.0], [4, 1, 4], 0.075),
        ]);
        d.ties = ties
            .map(|bodies| TieDef { name: format!("{bodies:?}"), bodies, ..tie(Some(5e-3)) })
            .to_vec();
        d.settings.time.integrator = Integrator::ImplicitEuler;
        d.settings.time.step = 0.01;
        d.settings.solver.end.velocity = Some(1e-11);
        for body in &mut d.bodies {
            let spin = |p: &Vec3| Vec3::new(0.5, 1.0, 3.0).cross(p) + Vec3::new(p.y, 0.0, 0.0);
            body.velocity = body.rest.iter().map(spin).collect();
        }
        let mut s = Simulation::new(&d).unwrap();
        let whole: f64 = s.model().mass.iter().sum();
        let expected = 1000.0 * 0.09 * (0.15 + 0.1 + 0.075);
        assert!((whole - expected).abs() < 1e-12 * expected, "{whole}");
        assert!(s.model().mass.iter().all(|m| *m >= 0.0));
        let turn = Rotation3::new(Vec3::new(0.7, -1.1, 0.4));
        let right: Vec<Vec3> = s.positions().iter().map(|x| turn * x).collect();
        let mut x = right.clone();
        let carried: Vec<usize> = (0..x.len()).filter(|v| s.model().map.is_carried(*v)).collect();
        assert_eq!(carried.len(), 16 + 25);
        carried.iter().for_each(|&v| x[v] = Vec3::zeros());
        s.model().map.spread(&mut x);
        carried.iter().for_each(|&v| assert!((x[v] - right[v]).norm() < 1e-14, "{v}"));
        for _ in 0..3 {
            let before = s.state().v.clone();
            s.step().unwrap();
            let (model, state) = (s.model(), s.state());
            let change = |v: usize| model.mass[v] * (state.v[v] - before[v]);
            let all = 0..state.v.len();
            let linear: Vec3 = all.clone().map(change).sum();
            let angular: Vec3 = all.clone().map(|v| state.x[v].cross(&change(v))).sum();
            let scale: f64 = all.map(|v| change(v).norm()).sum();
            assert!(linear.norm() < 1e-12 * scale, "{:e}", linear.norm() / scale);
            assert!(angular.norm() < 1e-12 * scale, "{:e}", angular.norm() / scale);
        }
        assert!(s.audit().is_empty());
        s.positions().to_vec()
    };
    let (one, other) = (run([[0, 1], [1, 2]]), run([[2, 1], [1, 0]]));
    let apart = one.iter().zip(&other).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
    assert!(apart < 1e-11, "{apart:e}");
}
