//! Polygons in space as triangles: a fan where that has no triangle turned over, else ears are cut off.

use standoff_linalg::Vec3;

/// Vertices of a polygon that is not convex at most, because cutting ears takes time of the second order.
const MOST: usize = 4096;

/// The triangles of a polygon, given by indices into `points`; the error says what is wrong with it.
pub(super) fn triangles(points: &[Vec3], polygon: &[u32]) -> Result<Vec<[u32; 3]>, String> {
    let fan = || (1..polygon.len() - 1).map(|k| [polygon[0], polygon[k], polygon[k + 1]]);
    let at = |v: u32| points[v as usize];
    let area = |[a, b, c]: [u32; 3]| (at(b) - at(a)).cross(&(at(c) - at(a)));
    // twice the area of the polygon, as a vector: the sum over any fan
    let normal: Vec3 = fan().map(area).sum();
    if polygon.len() == 3 || fan().all(|t| area(t).dot(&normal) >= 0.0) {
        return Ok(fan().collect());
    }
    if polygon.len() > MOST {
        return Err(format!("is not convex and has more than {MOST} vertices"));
    }
    let mut left = polygon.to_vec();
    let mut out = Vec::with_capacity(polygon.len() - 2);
    while left.len() > 3 {
        let n = left.len();
        let corner = |k: usize| [left[(k + n - 1) % n], left[k], left[(k + 1) % n]];
        // an ear: convex, and no other vertex in it
        let is_ear = |k: &usize| {
            let ear = corner(*k);
            let inside = |v: &u32| {
                let sides = [[ear[0], ear[1], *v], [ear[1], ear[2], *v], [ear[2], ear[0], *v]];
                !ear.contains(v) && sides.iter().all(|s| area(*s).dot(&normal) >= 0.0)
            };
            area(ear).dot(&normal) > 0.0 && !left.iter().any(inside)
        };
        let Some(k) = (0..n).find(is_ear) else {
            return Err("crosses itself".to_owned());
        };
        out.push(corner(k));
        left.remove(k);
    }
    let last = [left[0], left[1], left[2]];
    if area(last).dot(&normal) < 0.0 {
        return Err("crosses itself".to_owned());
    }
    out.push(last);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_polygon_with_a_notch_keeps_its_area() {
        // an arrowhead: a fan from its first vertex would leave it
        let points =
            [[0.0, 0.0], [2.0, -1.0], [1.0, 0.0], [2.0, 1.0]].map(|[x, y]| Vec3::new(x, y, 0.0));
        for first in 0..4u32 {
            let polygon: Vec<u32> = (0..4).map(|k| (first + k) % 4).collect();
            let all = triangles(&points, &polygon).unwrap();
            let area = |t: &[u32; 3]| {
                let [a, b, c] = t.map(|v| points[v as usize]);
                (b - a).cross(&(c - a)).z / 2.0
            };
            assert!(all.iter().all(|t| area(t) > 0.0), "{all:?}");
            assert_eq!(all.iter().map(area).sum::<f64>(), 1.0);
        }
    }

    #[test]
    fn a_polygon_that_crosses_itself_is_refused() {
        let points =
            [[0.0, 0.0], [4.0, 0.0], [1.0, -1.0], [0.5, 3.0]].map(|[x, y]| Vec3::new(x, y, 0.0));
        assert!(triangles(&points, &[0, 1, 2, 3]).is_err());
    }
}
