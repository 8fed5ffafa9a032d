// Triangles: boundaries of solids, shells and obstacles. Every corner is a vertex of its own in what is drawn,
// so that a triangle can have a value of its own and its edges can be drawn.

import * as THREE from "three";
import { MISSING, Shading } from "./shading";

/** What triangles there are. */
export interface Triangles {
  /** Three vertices each. */
  corners: Uint32Array;
  /** Body of each. */
  body: Uint32Array;
  /** Thickness of each, m. */
  thickness: Float32Array | undefined;
  /** Number of those that bound a solid. They come first. */
  boundary: number;
}

const VERTEX = /* glsl */ `
in float body;
in float value;
in float offset;
void main() {
  if (!colourOf(body, value)) {
    gl_Position = NOWHERE;
    return;
  }
  vec3 p = position + (thickness ? offset : 0.0) * normal;
  vec4 seen = modelViewMatrix * vec4(p, 1.0);
  vPosition = seen.xyz;
  vNormal = normalMatrix * normal;
  int corner = gl_VertexID % 3;
  vCorner = vec3(corner == 0, corner == 1, corner == 2);
  gl_Position = projectionMatrix * seen;
}
`;

export class Surface {
  readonly object: THREE.Mesh;
  readonly triangles: Triangles;
  /** Vertex of every corner that is drawn: of the triangles, then of the other side and the rim of sheets. */
  #corners: Uint32Array;
  /** Triangle of every three corners. */
  #owner: Uint32Array;
  #normals: Float32Array;
  #geometry = new THREE.BufferGeometry();

  constructor(triangles: Triangles, vertices: number, shading: Shading) {
    this.triangles = triangles;
    const { corners, body, thickness, boundary } = triangles;
    const count = corners.length / 3;
    const half = (t: number) => 0.5 * (thickness?.[t] ?? 0);
    const all = Array.from(corners);
    const owner = Array.from({ length: count }, (_, t) => t);
    const offset = all.map((_, k) => half(Math.floor(k / 3)));
    const add = (triangle: number, vertices: number[], offsets: number[]) => {
      all.push(...vertices);
      offset.push(...offsets);
      owner.push(triangle);
    };
    const rims = new Map<string, { triangle: number; a: number; b: number } | null>();
    for (let t = boundary; t < count; t++) {
      if (half(t) === 0) continue;
      const [a, b, c] = corners.subarray(3 * t, 3 * t + 3);
      add(t, [a, c, b], [-half(t), -half(t), -half(t)]);
      for (const [p, q] of [[a, b], [b, c], [c, a]]) {
        const key = p < q ? `${p} ${q}` : `${q} ${p}`;
        rims.set(key, rims.has(key) ? null : { triangle: t, a: p, b: q });
      }
    }
    for (const rim of rims.values()) {
      if (rim === null) continue;
      const { triangle, a, b } = rim;
      const h = half(triangle);
      add(triangle, [a, b, b], [h, h, -h]);
      add(triangle, [a, b, a], [h, -h, -h]);
    }
    this.#corners = Uint32Array.from(all);
    this.#owner = Uint32Array.from(owner);
    this.#normals = new Float32Array(3 * vertices);
    const attribute = (name: string, size: number, data: Float32Array, usage: THREE.Usage) => {
      const made = new THREE.BufferAttribute(data, size);
      made.setUsage(usage);
      this.#geometry.setAttribute(name, made);
    };
    const n = all.length;
    attribute("position", 3, new Float32Array(3 * n), THREE.DynamicDrawUsage);
    attribute("normal", 3, new Float32Array(3 * n), THREE.DynamicDrawUsage);
    attribute("value", 1, new Float32Array(n), THREE.DynamicDrawUsage);
    attribute("offset", 1, Float32Array.from(offset), THREE.StaticDrawUsage);
    const owners = Float32Array.from(all, (_, k) => body[owner[Math.floor(k / 3)]]);
    attribute("body", 1, owners, THREE.StaticDrawUsage);
    this.object = new THREE.Mesh(this.#geometry, shading.material(VERTEX));
    this.object.frustumCulled = false;
  }

  /** Whether a triangle has a thickness, so that normals of vertices are needed to show it. */
  get isThick(): boolean {
    return this.triangles.thickness !== undefined;
  }

  setPositions(x: Float32Array, withNormals: boolean, withThickness: boolean): void {
    const drawn = withThickness ? this.#corners.length : this.triangles.corners.length;
    this.#geometry.setDrawRange(0, drawn);
    this.#spread("position", x, drawn);
    if (withNormals) {
      this.#findNormals(x);
      this.#spread("normal", this.#normals, drawn);
    }
  }

  /** Values of vertices, or of the triangles. */
  setValues(values: Float32Array, ofCells: boolean): void {
    const attribute = this.#geometry.getAttribute("value") as THREE.BufferAttribute;
    const target = attribute.array as Float32Array;
    const corners = this.#corners;
    for (let k = 0; k < corners.length; k++) {
      const value = ofCells ? values[this.#owner[(k / 3) | 0]] : values[corners[k]];
      target[k] = Number.isFinite(value) ? value : MISSING;
    }
    attribute.needsUpdate = true;
  }

  dispose(): void {
    this.#geometry.dispose();
    (this.object.material as THREE.Material).dispose();
  }

  #spread(name: string, source: Float32Array, drawn: number): void {
    const attribute = this.#geometry.getAttribute(name) as THREE.BufferAttribute;
    const target = attribute.array as Float32Array;
    const corners = this.#corners;
    for (let k = 0, t = 0; k < drawn; k++) {
      const s = 3 * corners[k];
      target[t++] = source[s];
      target[t++] = source[s + 1];
      target[t++] = source[s + 2];
    }
    attribute.clearUpdateRanges();
    attribute.addUpdateRange(0, 3 * drawn);
    attribute.needsUpdate = true;
  }

  /** Unit normals of vertices, weighted by areas. */
  #findNormals(x: Float32Array): void {
    const { corners } = this.triangles;
    const n = this.#normals.fill(0);
    for (let t = 0; t < corners.length; t += 3) {
      const [a, b, c] = [3 * corners[t], 3 * corners[t + 1], 3 * corners[t + 2]];
      const [ux, uy, uz] = [x[b] - x[a], x[b + 1] - x[a + 1], x[b + 2] - x[a + 2]];
      const [vx, vy, vz] = [x[c] - x[a], x[c + 1] - x[a + 1], x[c + 2] - x[a + 2]];
      const [nx, ny, nz] = [uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx];
      n[a] += nx;
      n[a + 1] += ny;
      n[a + 2] += nz;
      n[b] += nx;
      n[b + 1] += ny;
      n[b + 2] += nz;
      n[c] += nx;
      n[c + 1] += ny;
      n[c + 2] += nz;
    }
    for (let v = 0; v < n.length; v += 3) {
      const length = Math.hypot(n[v], n[v + 1], n[v + 2]) || 1;
      n[v] /= length;
      n[v + 1] /= length;
      n[v + 2] /= length;
    }
  }
}
