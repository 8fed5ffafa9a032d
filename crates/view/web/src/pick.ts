// What lies under the pointer: the nearest triangle or stick that a ray meets.

import * as THREE from "three";
import { Sticks } from "./tubes";
import { Triangles } from "./surface";

/** What was hit: which cell, the vertex of it that is nearest to the place, and how far along the ray. */
export interface Hit {
  distance: number;
  /** Index of the triangle or of the stick. */
  index: number;
  vertex: number;
  point: THREE.Vector3;
}

export function hitTriangle(
  ray: THREE.Ray,
  { corners, body }: Triangles,
  x: Float32Array,
  visible: (body: number) => boolean,
): Hit | undefined {
  const [a, b, c, at] = [0, 1, 2, 3].map(() => new THREE.Vector3());
  let best: Hit | undefined;
  for (let t = 0; t < corners.length; t += 3) {
    if (!visible(body[t / 3])) continue;
    a.fromArray(x, 3 * corners[t]);
    b.fromArray(x, 3 * corners[t + 1]);
    c.fromArray(x, 3 * corners[t + 2]);
    if (ray.intersectTriangle(a, b, c, false, at) === null) continue;
    const distance = at.distanceTo(ray.origin);
    if (best && best.distance <= distance) continue;
    const distances = [a, b, c].map((p) => p.distanceToSquared(at));
    const nearest = distances.indexOf(Math.min(...distances));
    best = { distance, index: t / 3, vertex: corners[t + nearest], point: at.clone() };
  }
  return best;
}

/** `slack` is how far beside a thin stick still counts, as a share of its distance. */
export function hitStick(
  ray: THREE.Ray,
  { ends, body, radius }: Sticks,
  x: Float32Array,
  visible: (body: number) => boolean,
  slack: number,
): Hit | undefined {
  const [a, b, onRay, onStick] = [0, 1, 2, 3].map(() => new THREE.Vector3());
  let best: Hit | undefined;
  for (let k = 0; k < body.length; k++) {
    if (!visible(body[k])) continue;
    a.fromArray(x, 3 * ends[2 * k]);
    b.fromArray(x, 3 * ends[2 * k + 1]);
    const apart = Math.sqrt(ray.distanceSqToSegment(a, b, onRay, onStick));
    const distance = onRay.distanceTo(ray.origin);
    if (!(apart <= Math.max(radius[k], slack * distance))) continue;
    if (best && best.distance <= distance) continue;
    const end = onStick.distanceToSquared(a) <= onStick.distanceToSquared(b) ? 0 : 1;
    best = { distance, index: k, vertex: ends[2 * k + end], point: onStick.clone() };
  }
  return best;
}
