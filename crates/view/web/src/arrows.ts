// Forces of vertices as arrows. What lies behind a surface is drawn faintly, because forces on a body act on
// its inside from where one looks.

import * as THREE from "three";

const VERTEX = /* glsl */ `
in vec3 origin;
in vec3 force;
uniform float scale;
out float vShade;
void main() {
  float l = length(force) * scale;
  vec3 w = normalize(force);
  vec3 u = normalize(cross(w, abs(w.y) < 0.9 ? vec3(0.0, 1.0, 0.0) : vec3(1.0, 0.0, 0.0)));
  vec3 v = cross(w, u);
  vec3 p = origin + l * (position.x * u + position.y * v + position.z * w);
  vec3 side = position.x * u + position.y * v;
  float r = length(position.xy);
  vShade = r > 0.0 ? 0.8 + 0.2 * (modelViewMatrix * vec4(side / r, 0.0)).y : 0.8;
  gl_Position = projectionMatrix * modelViewMatrix * vec4(p, 1.0);
}
`;

const FRAGMENT = /* glsl */ `
uniform float opacity;
in float vShade;
layout(location = 0) out vec4 colour;
void main() {
  colour = vec4(vec3(0.78, 0.08, 0.1) * vShade, opacity);
}
`;

/** An arrow of length 1 along z. */
function arrow(): THREE.InstancedBufferGeometry {
  const points: number[] = [];
  const profile = [[0, 0], [0.02, 0], [0.02, 0.72], [0.06, 0.72], [0, 1]];
  const sides = 8;
  for (let row = 0; row + 1 < profile.length; row++) {
    for (let side = 0; side < sides; side++) {
      const at = (row: number, side: number) => {
        const [r, z] = profile[row];
        const angle = (2 * Math.PI * side) / sides;
        points.push(r * Math.cos(angle), r * Math.sin(angle), z);
      };
      at(row, side);
      at(row, side + 1);
      at(row + 1, side + 1);
      at(row, side);
      at(row + 1, side + 1);
      at(row + 1, side);
    }
  }
  const geometry = new THREE.InstancedBufferGeometry();
  geometry.setAttribute("position", new THREE.Float32BufferAttribute(points, 3));
  return geometry;
}

export class Arrows {
  readonly object = new THREE.Group();
  #geometry = arrow();
  #scale = { value: 1 };
  #origins = new THREE.InstancedBufferAttribute(new Float32Array(3), 3);
  #forces = new THREE.InstancedBufferAttribute(new Float32Array(3), 3);

  constructor() {
    this.#geometry.instanceCount = 0;
    for (const [opacity, depthTest] of [[0.22, false], [1, true]] as const) {
      const material = new THREE.ShaderMaterial({
        glslVersion: THREE.GLSL3,
        uniforms: { scale: this.#scale, opacity: { value: opacity } },
        vertexShader: VERTEX,
        fragmentShader: FRAGMENT,
        transparent: opacity < 1,
        depthTest,
        depthWrite: depthTest,
        side: THREE.DoubleSide,
      });
      const mesh = new THREE.Mesh(this.#geometry, material);
      mesh.frustumCulled = false;
      mesh.renderOrder = depthTest ? 1 : 2;
      this.object.add(mesh);
    }
  }

  /** Arrows at the vertices that `shown` admits; `scale` is in m/N. Forces below a thousandth of the largest are left out. */
  set(x: Float32Array, forces: Float32Array, scale: number, shown: (vertex: number) => boolean): void {
    let largest = 0;
    for (let v = 0; v < forces.length; v += 3) {
      largest = Math.max(largest, Math.hypot(forces[v], forces[v + 1], forces[v + 2]));
    }
    const origins: number[] = [];
    const vectors: number[] = [];
    for (let v = 0; v < forces.length; v += 3) {
      const size = Math.hypot(forces[v], forces[v + 1], forces[v + 2]);
      if (!(size > 1e-3 * largest) || !shown(v / 3)) continue;
      origins.push(x[v], x[v + 1], x[v + 2]);
      vectors.push(forces[v], forces[v + 1], forces[v + 2]);
    }
    const count = origins.length / 3;
    if (this.#origins.count < count) {
      const size = 3 * Math.ceil(1.5 * count);
      // buffers of another size need a geometry of their own
      this.#geometry.dispose();
      this.#origins = new THREE.InstancedBufferAttribute(new Float32Array(size), 3);
      this.#forces = new THREE.InstancedBufferAttribute(new Float32Array(size), 3);
    }
    this.#geometry.setAttribute("origin", this.#origins);
    this.#geometry.setAttribute("force", this.#forces);
    this.#origins.array.set(origins);
    this.#forces.array.set(vectors);
    this.#origins.needsUpdate = this.#forces.needsUpdate = true;
    this.#geometry.instanceCount = count;
    this.#scale.value = scale;
    this.object.visible = count > 0;
  }

  hide(): void {
    this.object.visible = false;
  }

  get count(): number {
    return this.object.visible ? this.#geometry.instanceCount : 0;
  }
}
