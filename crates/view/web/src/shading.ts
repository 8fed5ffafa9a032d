// What all shaders share: colours by value or body, light, hidden bodies. Colours are those of the screen
// (sRGB) throughout.

import * as THREE from "three";

/** Colours of values and bodies, the same for all that is drawn. */
export class Shading {
  readonly uniforms = {
    bodies: { value: new THREE.DataTexture(new Uint8Array(4), 1, 1) as THREE.Texture },
    colourMap: { value: new THREE.DataTexture(new Uint8Array(4), 1, 1) as THREE.Texture },
    byValue: { value: false },
    logarithmic: { value: false },
    range: { value: new THREE.Vector2(0, 1) },
    wireframe: { value: false },
    smoothShading: { value: false },
    thickness: { value: true },
    /** Height of the picture, pixels. */
    height: { value: 1 },
  };
  #states = new Uint8Array(4);

  /** Bodies of a run, with their colours. */
  setBodies(colours: [number, number, number][]): void {
    const width = Math.min(1024, Math.max(1, colours.length));
    const height = Math.max(1, Math.ceil(colours.length / width));
    this.#states = new Uint8Array(4 * width * height);
    colours.forEach((c, k) => this.#states.set([...c, 128], 4 * k));
    this.uniforms.bodies.value.dispose();
    this.uniforms.bodies.value = texture(this.#states, width, height);
  }

  setState(body: number, visible: boolean, selected: boolean): void {
    this.#states[4 * body + 3] = !visible ? 0 : selected ? 255 : 128;
    this.uniforms.bodies.value.needsUpdate = true;
  }

  isVisible(body: number): boolean {
    return this.#states[4 * body + 3] > 0;
  }

  /** 256 colours. */
  setMap(colours: Uint8Array): void {
    this.uniforms.colourMap.value.dispose();
    const map = texture(colours, 256, 1);
    map.magFilter = map.minFilter = THREE.LinearFilter;
    this.uniforms.colourMap.value = map;
  }

  material(vertexShader: string, settings: THREE.ShaderMaterialParameters = {}): THREE.ShaderMaterial {
    return new THREE.ShaderMaterial({
      glslVersion: THREE.GLSL3,
      uniforms: { ...this.uniforms },
      vertexShader: COMMON + vertexShader,
      fragmentShader: FRAGMENT,
      side: THREE.DoubleSide,
      ...settings,
    });
  }
}

function texture(data: Uint8Array, width: number, height: number): THREE.DataTexture {
  const made = new THREE.DataTexture(data as Uint8Array<ArrayBuffer>, width, height);
  made.needsUpdate = true;
  return made;
}

/** Stands for a value that there is not. */
export const MISSING = -3e38;

const COMMON = /* glsl */ `
uniform sampler2D bodies;
uniform bool smoothShading;
uniform bool thickness;
uniform float height;
flat out vec3 vTint;
flat out float vSelected;
out float vValue;
out float vMissing;
out vec3 vPosition;
out vec3 vNormal;
out vec3 vCorner;

// false for a body that is hidden
bool colourOf(float body, float value) {
  int width = textureSize(bodies, 0).x;
  int k = int(body + 0.5);
  vec4 state = texelFetch(bodies, ivec2(k % width, k / width), 0);
  vTint = state.rgb;
  vSelected = state.a > 0.75 ? 1.0 : 0.0;
  vMissing = value < -1e38 ? 1.0 : 0.0;
  vValue = vMissing > 0.5 ? 0.0 : value;
  vCorner = vec3(1.0);
  return state.a > 0.25;
}

const vec4 NOWHERE = vec4(2.0, 2.0, 2.0, 1.0);
`;

const FRAGMENT = /* glsl */ `
uniform sampler2D colourMap;
uniform bool byValue;
uniform bool logarithmic;
uniform vec2 range;
uniform bool wireframe;
uniform bool smoothShading;
flat in vec3 vTint;
flat in float vSelected;
in float vValue;
in float vMissing;
in vec3 vPosition;
in vec3 vNormal;
in vec3 vCorner;
layout(location = 0) out vec4 colour;

void main() {
  vec3 base = vTint;
  if (byValue && vMissing > 0.0) {
    base = vec3(0.72);
  } else if (byValue) {
    float low = logarithmic ? log(max(range.x, 1e-37)) : range.x;
    float high = logarithmic ? log(max(range.y, 1e-37)) : range.y;
    float value = logarithmic ? log(max(vValue, 1e-37)) : vValue;
    float t = clamp((value - low) / max(high - low, 1e-37), 0.0, 1.0);
    base = texture(colourMap, vec2((0.5 + 255.0 * t) / 256.0, 0.5)).rgb;
  }
  vec3 face = normalize(cross(dFdx(vPosition), dFdy(vPosition)));
  vec3 normal = smoothShading && dot(vNormal, vNormal) > 0.0 ? normalize(vNormal) : face;
  // the side that is seen is lit
  if (dot(normal, vPosition) > 0.0) normal = -normal;
  float key = max(dot(normal, normalize(vec3(0.35, 0.75, 0.6))), 0.0);
  float head = max(dot(normal, normalize(-vPosition)), 0.0);
  vec3 lit = base * (0.42 + 0.33 * key + 0.3 * head);
  if (wireframe) {
    vec3 width = max(fwidth(vCorner), 1e-6);
    vec3 inside = smoothstep(vec3(0.0), 1.2 * width, vCorner);
    // seen on dark and on light colours
    vec3 line = dot(lit, vec3(0.3, 0.6, 0.1)) < 0.22 ? vec3(0.6) : vec3(0.08);
    lit = mix(line, lit, 0.3 + 0.7 * min(inside.x, min(inside.y, inside.z)));
  }
  // what is selected glows at its outline, so that its values can still be read
  float grazing = 1.0 - abs(dot(normal, normalize(vPosition)));
  if (vSelected > 0.5) lit = mix(lit, vec3(1.0, 0.5, 0.0), 0.12 + 0.7 * grazing * grazing);
  colour = vec4(lit, 1.0);
}
`;
