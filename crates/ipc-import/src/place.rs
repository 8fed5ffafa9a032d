//! Rest and start positions of all bodies, as the reference computes them: placement of the file,
//! `rotateModel`, `size`, and the raising of the scripts `fall` and `dragright`.

use crate::error::{Located, Problem};
use crate::language::{MeshObstacle, ReferenceScene, Script, Set, Shape};
use crate::meshes::{Meshes, Source};
use crate::plan::{MatrixMember, Placement, PlannedBody, Turn, axis_angle, bounds, euler};
use standoff_linalg::Vec3;
use standoff_sim::material::Material;
use std::path::Path;

/// All shapes, placed; then the obstacles. Returns the number of shapes, too.
pub(crate) fn place(
    scene: &ReferenceScene,
    meshes: &mut Meshes,
) -> Result<(Vec<PlannedBody>, usize), Located> {
    let mut bodies = Vec::new();
    let mut names = Names::default();
    for shape in &scene.shapes {
        let source = meshes.shape(&shape.file).map_err(|p| p.at(shape.line))?;
        check_scale(shape).map_err(|p| p.at(shape.line))?;
        copies(scene, shape, source, &mut names, &mut bodies);
    }
    if !bodies.iter().any(PlannedBody::elastic) {
        let what = "the scene has no elastic shape; one .msh at least is needed in 'shapes'";
        return Err(Problem::malformed(what).at(0));
    }
    turn(scene, &mut bodies)?;
    rescale(scene, &mut bodies);
    raise(scene, &mut bodies);
    let shapes = bodies.len();
    for obstacle in &scene.mesh_obstacles {
        let source = meshes.obstacle(&obstacle.value.file).map_err(|p| p.at(obstacle.line))?;
        bodies.push(place_obstacle(scene, obstacle, source, &mut names));
    }
    Ok((bodies, shapes))
}

/// Names after mesh files, numbered where they repeat.
#[derive(Default)]
struct Names(Vec<String>);

impl Names {
    fn next(&mut self, file: &Path) -> String {
        let stem = file.file_stem().and_then(|s| s.to_str()).unwrap_or("shape");
        let mut name = stem.to_owned();
        let mut number = 1;
        while self.0.contains(&name) {
            number += 1;
            name = format!("{stem}-{number}");
        }
        self.0.push(name.clone());
        name
    }
}

fn check_scale(shape: &Shape) -> Result<(), Problem> {
    if shape.scale.iter().all(|s| *s > 0.0) {
        return Ok(());
    }
    Err(Problem::unsupported(
        format!("the scale {:?}, which mirrors or flattens the mesh,", shape.scale.as_slice()),
        "transform the mesh file itself",
    ))
}

/// The copies of a shape (one, unless it is a matrix), at X = V = R·(s ∘ p) + t.
fn copies(
    scene: &ReferenceScene,
    shape: &Shape,
    source: Source,
    names: &mut Names,
    bodies: &mut Vec<PlannedBody>,
) {
    let name = names.next(&source.path);
    let mut add = |name: String, translate: Vec3, matrix: Option<MatrixMember>| {
        let placement = Placement { scale: shape.scale, rotate: shape.rotate, translate };
        let rest = apply(&placement, &source);
        bodies.push(PlannedBody {
            line: shape.line,
            name,
            source: source.clone(),
            matrix,
            placement,
            turned: None,
            start: rest.clone(),
            rest,
            material: material(scene, shape.options.material),
            velocity: (Vec3::zeros(), Vec3::zeros()),
            actions: Vec::new(),
        });
    };
    let Some(matrix) = shape.matrix else { return add(name, shape.translate, None) };
    let [nx, ny, nz] = matrix.counts;
    for i in 0..nx {
        for j in 0..ny {
            for k in 0..nz {
                let steps = Vec3::new(f64::from(i), f64::from(j), f64::from(k));
                let translate = matrix.base + steps.component_mul(&shape.translate);
                let (name, spacing) = (name.clone(), shape.translate);
                let suffix = format!("{name}[{i},{j},{k}]");
                add(suffix, translate, Some(MatrixMember { name, counts: matrix.counts, spacing }));
            }
        }
    }
}

fn apply(placement: &Placement, source: &Source) -> Vec<Vec3> {
    let rotation = euler(&placement.rotate);
    let place = |p: &Vec3| rotation * placement.scale.component_mul(p) + placement.translate;
    source.mesh.points.iter().map(place).collect()
}

/// Density and law: the shape's own if they are usable, else the scene's.
fn material(scene: &ReferenceScene, own: Option<[f64; 3]>) -> (f64, Material) {
    let own = own.filter(|[rho, e, _]| *rho > 0.0 && *e > 0.0);
    let (e, nu) = scene.stiffness.value;
    let [density, young_modulus, poisson_ratio] = own.unwrap_or([scene.density.value, e, nu]);
    (density, Material { law: scene.law.value.clone(), young_modulus, poisson_ratio })
}

/// `rotateModel` turns the start, not the rest, about half the extents of its box.
fn turn(scene: &ReferenceScene, bodies: &mut [PlannedBody]) -> Result<(), Located> {
    let Some(Set { line, value: (axis, angle) }) = scene.rotate_model else { return Ok(()) };
    if (axis.norm() - 1.0).abs() > 1e-9 {
        let what = "rotateModel about an axis whose length is not 1";
        let instead = "the reference would distort the start with it; normalise the axis";
        return Err(Problem::unsupported(what, instead).at(line));
    }
    let (lo, hi) = bounds(bodies.iter().flat_map(|b| &b.start));
    let pivot = (hi - lo) / 2.0;
    let rotation = axis_angle(&axis, angle);
    for body in bodies {
        body.start.iter_mut().for_each(|v| *v = rotation * (*v - pivot) + pivot);
        let translate = pivot - rotation * pivot;
        body.turned = Some(Turn { axis, angle, translate });
    }
    Ok(())
}

/// `size` scales all so that the start fills a box from the origin whose largest extent it is.
fn rescale(scene: &ReferenceScene, bodies: &mut [PlannedBody]) {
    let size = scene.size.value;
    if size <= 0.0 {
        return;
    }
    let (lo, hi) = bounds(bodies.iter().flat_map(|b| &b.start));
    let factor = size / (hi - lo).max();
    let shift = -factor * lo;
    for body in bodies {
        for x in body.rest.iter_mut().chain(&mut body.start) {
            *x = factor * *x + shift;
        }
        body.placement.scale *= factor;
        body.placement.translate = factor * body.placement.translate + shift;
        if let Some(matrix) = &mut body.matrix {
            matrix.spacing *= factor;
        }
        if let Some(turn) = &mut body.turned {
            // start = f·(Q·X + b) + s with X = (rest − s)/f
            let rotation = axis_angle(&turn.axis, turn.angle);
            turn.translate = factor * turn.translate + shift - rotation * shift;
        }
    }
}

/// `fall` and `dragright` raise the start by half the diagonal of its box. The rest is raised with
/// it, which changes nothing but keeps displacements zero at the start.
fn raise(scene: &ReferenceScene, bodies: &mut [PlannedBody]) {
    if !matches!(scene.script.value, Script::Fall | Script::DragRight) {
        return;
    }
    let (lo, hi) = bounds(bodies.iter().flat_map(|b| &b.start));
    let lift = Vec3::new(0.0, 0.5 * (hi - lo).norm(), 0.0);
    for body in bodies {
        for x in body.rest.iter_mut().chain(&mut body.start) {
            *x += lift;
        }
        body.placement.translate += lift;
        if let Some(turn) = &mut body.turned {
            let rotation = axis_angle(&turn.axis, turn.angle);
            turn.translate += lift - rotation * lift;
        }
    }
}

/// `meshCO`: the mean of the vertices goes to the position, scaled to the extent of the file.
fn place_obstacle(
    scene: &ReferenceScene,
    obstacle: &Set<MeshObstacle>,
    source: Source,
    names: &mut Names,
) -> PlannedBody {
    let MeshObstacle { position, extent, rotate, .. } = &obstacle.value;
    let points = &source.mesh.points;
    let mean = points.iter().sum::<Vec3>() / points.len() as f64;
    let (lo, hi) = bounds(points);
    let factor = extent / (hi - lo).max();
    let rotation = euler(rotate);
    let rest: Vec<Vec3> =
        points.iter().map(|p| factor * (rotation * (p - mean)) + position).collect();
    let placement = Placement {
        scale: Vec3::repeat(factor),
        rotate: *rotate,
        translate: position - factor * (rotation * mean),
    };
    PlannedBody {
        line: obstacle.line,
        name: names.next(&source.path),
        source,
        matrix: None,
        placement,
        turned: None,
        start: rest.clone(),
        rest,
        material: material(scene, None),
        velocity: (Vec3::zeros(), Vec3::zeros()),
        actions: Vec::new(),
    }
}
