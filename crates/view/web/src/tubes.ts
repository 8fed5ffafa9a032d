// Segments of rods and wires as round sticks with round ends; particles and bare points as balls, which are
// sticks without length.

import * as THREE from "three";
import { MISSING, Shading } from "./shading";

export interface Sticks {
  /** Two vertices each, equal for a ball. */
  ends: Uint32Array;
  body: Uint32Array;
  /** m */
  radius: Float32Array;
}

const VERTEX = /* glsl */ `
in vec3 a;
in vec3 b;
in float radius;
in float body;
in float valueA;
in float valueB;
in float end;
void main() {
  if (!colourOf(body, mix(valueA, valueB, end))) {
    gl_Position = NOWHERE;
    return;
  }
  vec3 axis = b - a;
  float l = length(axis);
  vec3 w = l > 0.0 ? axis / l : vec3(0.0, 0.0, 1.0);
  vec3 u = normalize(cross(w, abs(w.y) < 0.9 ? vec3(0.0, 1.0, 0.0) : vec3(1.0, 0.0, 0.0)));
  vec3 v = cross(w, u);
  vec3 centre = mix(a, b, end);
  vec4 seen = modelViewMatrix * vec4(centre, 1.0);
  // never thinner than can be seen
  float pixel = -2.0 * seen.z / (projectionMatrix[1][1] * height);
  float r = max(thickness ? radius : 0.0, (l > 0.0 ? 0.9 : 1.8) * pixel);
  vec3 out_ = position.x * u + position.y * v + position.z * w;
  seen = modelViewMatrix * vec4(centre + r * out_, 1.0);
  vPosition = seen.xyz;
  vNormal = normalMatrix * out_;
  gl_Position = projectionMatrix * seen;
}
`;

/** A ball of radius 1 whose upper half belongs to the other end of the stick. */
function stick(sides: number, rings: number): THREE.InstancedBufferGeometry {
  const positions: number[] = [];
  const ends: number[] = [];
  const rows: { z: number; r: number; end: number }[] = [];
  for (let half = 0; half < 2; half++) {
    for (let k = 0; k <= rings; k++) {
      const angle = (half === 0 ? k - rings : k) * (Math.PI / 2 / Math.max(rings, 1));
      rows.push({ z: Math.sin(angle), r: Math.cos(angle), end: half });
    }
  }
  const at = (row: number, side: number) => {
    const { z, r, end } = rows[row];
    const angle = (2 * Math.PI * side) / sides;
    positions.push(r * Math.cos(angle), r * Math.sin(angle), z);
    ends.push(end);
  };
  for (let row = 0; row + 1 < rows.length; row++) {
    for (let side = 0; side < sides; side++) {
      at(row, side);
      at(row, side + 1);
      at(row + 1, side + 1);
      at(row, side);
      at(row + 1, side + 1);
      at(row + 1, side);
    }
  }
  const geometry = new THREE.InstancedBufferGeometry();
  geometry.setAttribute("position", new THREE.Float32BufferAttribute(positions, 3));
  geometry.setAttribute("end", new THREE.Float32BufferAttribute(ends, 1));
  return geometry;
}

export class Tubes {
  readonly object: THREE.Mesh;
  readonly sticks: Sticks;
  #geometry: THREE.InstancedBufferGeometry;

  constructor(sticks: Sticks, shading: Shading) {
    this.sticks = sticks;
    const count = sticks.body.length;
    this.#geometry = count > 5000 ? stick(7, 1) : stick(12, 3);
    this.#geometry.instanceCount = count;
    const attribute = (name: string, size: number, data: Float32Array) => {
      const made = new THREE.InstancedBufferAttribute(data, size);
      made.setUsage(THREE.DynamicDrawUsage);
      this.#geometry.setAttribute(name, made);
    };
    attribute("a", 3, new Float32Array(3 * count));
    attribute("b", 3, new Float32Array(3 * count));
    attribute("valueA", 1, new Float32Array(count));
    attribute("valueB", 1, new Float32Array(count));
    attribute("radius", 1, sticks.radius);
    attribute("body", 1, Float32Array.from(sticks.body));
    this.object = new THREE.Mesh(this.#geometry, shading.material(VERTEX));
    this.object.frustumCulled = false;
    this.object.visible = count > 0;
  }

  setPositions(x: Float32Array): void {
    const { ends } = this.sticks;
    for (const [name, which] of [["a", 0], ["b", 1]] as const) {
      this.#set(name, (target, k) => {
        const v = 3 * ends[2 * k + which];
        target[3 * k] = x[v];
        target[3 * k + 1] = x[v + 1];
        target[3 * k + 2] = x[v + 2];
      });
    }
  }

  /** Values of vertices, or of the sticks. */
  setValues(values: Float32Array, ofCells: boolean): void {
    const { ends } = this.sticks;
    for (const [name, which] of [["valueA", 0], ["valueB", 1]] as const) {
      this.#set(name, (target, k) => {
        const value = values[ofCells ? k : ends[2 * k + which]];
        target[k] = Number.isFinite(value) ? value : MISSING;
      });
    }
  }

  dispose(): void {
    this.#geometry.dispose();
    (this.object.material as THREE.Material).dispose();
  }

  #set(name: string, set: (target: Float32Array, k: number) => void): void {
    const attribute = this.#geometry.getAttribute(name) as THREE.InstancedBufferAttribute;
    const target = attribute.array as Float32Array;
    for (let k = 0; k < this.sticks.body.length; k++) set(target, k);
    attribute.needsUpdate = true;
  }
}
