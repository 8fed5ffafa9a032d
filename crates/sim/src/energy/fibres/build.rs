//! The fibres of solids, from the families of their elements.

use super::{Fibre, Fibres, Muscle, Muscles, Strand};
use crate::energy::element::Elements;
use crate::energy::point::Point;
use crate::energy::quadratic_tet::{NODES, QuadraticTet};
use crate::energy::quadratic_triangle::QuadraticTriangle;
use crate::energy::solids::Solids;
use crate::material::fibres::{FibreDirection, FibreLaw};
use standoff_geometry::quadratic::TRIANGLE_NODES;
use standoff_linalg::Vec3;

/// An element in which fibres have no direction, because it is on their axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoDirection {
    /// Its number among those of solids.
    pub element: usize,
    /// Number of the family.
    pub family: usize,
}

/// Where fibres are in an element.
struct Site<const N: usize> {
    /// Where it is at rest, m.
    place: Vec3,
    point: Point<N>,
    /// What the radius of a vertex adds to the last row of F, 1/m.
    hoop: [Vec3; N],
    planar: bool,
}

impl<const N: usize> Site<N> {
    fn new(place: Vec3, point: Point<N>) -> Self {
        Self { place, point, hoop: [Vec3::zeros(); N], planar: N == 3 || N == TRIANGLE_NODES }
    }
}

impl<const N: usize> Strand<N> {
    /// Of fibres along `a` at a site.
    fn new(site: &Site<N>, a: &Vec3) -> Self {
        Self {
            along: site.point.gradients.map(|g| g.dot(a)),
            around: site.hoop.map(|k| k.dot(a)),
            still: site.point.across * a,
            volume: site.point.volume,
            planar: site.planar,
        }
    }
}

/// Fibres and muscles of elements with N vertices, with their vertices.
#[derive(Default)]
struct Lists<const N: usize> {
    fibres: (Vec<[u32; N]>, Vec<Fibre<N>>),
    muscles: (Vec<[u32; N]>, Vec<Muscle<N>>),
}

impl<const N: usize> Lists<N> {
    fn elements(self, count: usize) -> (Elements<Fibre<N>, N>, Elements<Muscle<N>, N>) {
        let Self { fibres, muscles } = self;
        (
            Elements::from_parts(fibres.0, fibres.1, count),
            Elements::from_parts(muscles.0, muscles.1, count),
        )
    }
}

/// A family of fibres of an element.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Family {
    /// Where they point at rest.
    pub direction: FibreDirection,
    /// What they resist with.
    pub law: FibreLaw,
    /// Number of the tension with which they draw, if they do.
    pub tension: Option<u32>,
}

/// Fibres under way.
struct Builder<'b, F> {
    /// Rest positions, m (`#V`).
    rest: &'b [Vec3],
    /// The families of an element of solids.
    of: F,
    /// Number of the next element of solids.
    next: usize,
}

impl<F: FnMut(usize) -> Vec<Family>> Builder<'_, F> {
    /// Adds the fibres of the next elements, of which number k has the `sites` of its rest positions.
    fn add<const N: usize>(
        &mut self,
        vertices: &[[u32; N]],
        lists: &mut Lists<N>,
        sites: impl Fn(usize, &[Vec3; N]) -> Vec<Site<N>>,
    ) -> Result<(), NoDirection> {
        for (k, corners) in vertices.iter().enumerate() {
            let element = self.next + k;
            let families = (self.of)(element);
            if families.is_empty() {
                continue;
            }
            let sites = sites(k, &corners.map(|v| self.rest[v as usize]));
            for (point, site) in sites.iter().enumerate() {
                for (family, of) in families.iter().enumerate() {
                    let a = of.direction.at(&site.place).ok_or(NoDirection { element, family })?;
                    let (strand, element) = (Strand::new(site, &a), element as u32);
                    let point = point as u8;
                    if let Some(number) = of.tension {
                        let strand = strand.clone();
                        lists.muscles.0.push(*corners);
                        let muscle = Muscle { strand, number, element, point, tension: 0.0 };
                        lists.muscles.1.push(muscle);
                    }
                    if of.law.stiffness > 0.0 {
                        lists.fibres.0.push(*corners);
                        lists.fibres.1.push(Fibre { strand, law: of.law, element, point });
                    }
                }
            }
        }
        self.next += vertices.len();
        Ok(())
    }
}

/// The fibres of `solids`, whose element e has the families `of(e)`, over rest positions `rest` (m).
///
/// # Errors
/// The first element of which a point is on the axis of its fibres.
pub fn fibres(
    solids: &Solids,
    rest: &[Vec3],
    of: impl FnMut(usize) -> Vec<Family>,
) -> Result<(Fibres, Muscles), NoDirection> {
    let Solids { tets, plane, rings, quadratic, quadratic_triangles } = solids;
    let mut builder = Builder { rest, of, next: 0 };
    let (mut of_tets, mut of_triangles) = (Lists::default(), Lists::default());
    let (mut of_quadratic, mut of_curved) = (Lists::default(), Lists::default());
    let third = |x: &[Vec3; 3]| x.iter().sum::<Vec3>() / 3.0;
    builder.add(tets.vertices(), &mut of_tets, |k, x: &[Vec3; 4]| {
        let place = x.iter().sum::<Vec3>() / 4.0;
        vec![Site::new(place, tets.elements[k].point())]
    })?;
    builder.add(plane.vertices(), &mut of_triangles, |k, x| {
        vec![Site::new(third(x), plane.elements[k].point())]
    })?;
    builder.add(rings.vertices(), &mut of_triangles, |k, x| {
        let (point, hoop) = rings.elements[k].point.parts();
        vec![Site { hoop, ..Site::new(third(x), point) }]
    })?;
    builder.add(quadratic.vertices(), &mut of_quadratic, |k, x: &[Vec3; NODES]| {
        let points = quadratic.elements[k].points();
        let places = QuadraticTet::places(x).into_iter();
        places.zip(points).map(|(place, point)| Site::new(place, point)).collect()
    })?;
    let curved = &quadratic_triangles.elements;
    builder.add(quadratic_triangles.vertices(), &mut of_curved, |k, x| {
        let points = curved[k].points().into_iter().map(|point| point.parts());
        let places = QuadraticTriangle::places(x).into_iter().zip(points);
        places.map(|(place, (point, hoop))| Site { hoop, ..Site::new(place, point) }).collect()
    })?;
    let (tets, tet_muscles) = of_tets.elements(rest.len());
    let (triangles, triangle_muscles) = of_triangles.elements(rest.len());
    let (quadratic, quadratic_muscles) = of_quadratic.elements(rest.len());
    let (quadratic_triangles, curved_muscles) = of_curved.elements(rest.len());
    let muscles = Muscles {
        tets: tet_muscles,
        triangles: triangle_muscles,
        quadratic: quadratic_muscles,
        quadratic_triangles: curved_muscles,
    };
    Ok((Fibres { tets, triangles, quadratic, quadratic_triangles }, muscles))
}
