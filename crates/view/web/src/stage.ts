// The picture: camera, what is drawn, and what lies under the pointer.

import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { Arrays, floats, HalfSpace, indices, Run } from "./api";
import { Arrows } from "./arrows";
import { Culprits } from "./culprits";
import { hitStick, hitTriangle } from "./pick";
import { Shading } from "./shading";
import { Surface } from "./surface";
import { Tubes } from "./tubes";

export interface Settings {
  wireframe: boolean;
  smooth: boolean;
  thickness: boolean;
  planes: boolean;
  arrows: boolean;
  /** Power of ten by which arrows are longer. */
  arrowLength: number;
}

/** A cell and a vertex of it, as indices among what is visible. */
export interface Picked {
  cell: number;
  vertex: number;
  body: number;
}

export class Stage {
  readonly shading = new Shading();
  readonly settings: Settings = {
    wireframe: false,
    smooth: false,
    thickness: true,
    planes: true,
    arrows: false,
    arrowLength: 0,
  };
  #renderer: THREE.WebGLRenderer;
  #camera = new THREE.PerspectiveCamera(40, 1, 0.01, 100);
  #controls: OrbitControls;
  #scene = new THREE.Scene();
  #planes = new THREE.Group();
  #arrows = new Arrows();
  #culprits = new Culprits();
  #marker: THREE.Points;
  #surface: Surface | undefined;
  #edges: Tubes | undefined;
  #points: Tubes | undefined;
  /** Body of every visible vertex. */
  #bodyOfVertex: Uint32Array = new Uint32Array();
  #obstacles: boolean[] = [];
  #positions: Float32Array = new Float32Array();
  #forces: Float32Array | undefined;
  #largestForce = 0;
  /** Whether everything is in the plane z = 0. */
  #flat = false;
  #size = 1;
  #centre = new THREE.Vector3();
  #due = false;

  constructor(readonly canvas: HTMLCanvasElement) {
    // colours are those of the screen throughout
    THREE.ColorManagement.enabled = false;
    this.#renderer = new THREE.WebGLRenderer({ canvas, antialias: true, preserveDrawingBuffer: true });
    this.#renderer.outputColorSpace = THREE.LinearSRGBColorSpace;
    this.#renderer.setClearColor(0xe9edf2);
    this.#controls = new OrbitControls(this.#camera, canvas);
    this.#controls.addEventListener("change", () => this.draw());
    this.#marker = new THREE.Points(
      new THREE.BufferGeometry().setAttribute("position", new THREE.Float32BufferAttribute([0, 0, 0], 3)),
      new THREE.PointsMaterial({ color: 0x0050c8, size: 10, sizeAttenuation: false, depthTest: false, transparent: true }),
    );
    this.#marker.renderOrder = 11;
    this.#marker.visible = false;
    this.#marker.frustumCulled = false;
    this.#scene.add(this.#planes, this.#arrows.object, this.#culprits.object, this.#marker);
    new ResizeObserver(() => this.#resize()).observe(canvas.parentElement ?? canvas);
    this.#resize();
  }

  get culprits(): Culprits {
    return this.#culprits;
  }

  /** Number of arrows that are drawn. */
  get arrows(): number {
    return this.#arrows.count;
  }

  /** Takes the elements of a run. */
  setMesh(run: Run, mesh: Arrays): void {
    for (const old of [this.#surface, this.#edges, this.#points]) {
      if (!old) continue;
      this.#scene.remove(old.object);
      old.dispose();
    }
    const corners = indices(mesh, "triangle");
    const edges = indices(mesh, "edge");
    const points = indices(mesh, "point");
    const body = indices(mesh, "body");
    const vertices = indices(mesh, "vertex").length;
    const [thickness, radius] = [floats(mesh, "thickness"), floats(mesh, "radius")];
    const [t, e] = [corners.length / 3, edges.length / 2];
    const boundary = Number(mesh.about.boundary);
    const triangles = { corners, body: body.subarray(0, t), thickness: thickness?.subarray(0, t), boundary };
    this.#surface = new Surface(triangles, vertices, this.shading);
    const radii = (from: number, to: number) => {
      const round = (k: number) => radius?.[k] || 0.5 * (thickness?.[k] ?? 0);
      return Float32Array.from({ length: to - from }, (_, k) => round(from + k));
    };
    const end = body.length;
    const twice = Uint32Array.from({ length: 2 * points.length }, (_, k) => points[k >> 1]);
    this.#edges = new Tubes({ ends: edges, body: body.subarray(t, t + e), radius: radii(t, t + e) }, this.shading);
    this.#points = new Tubes({ ends: twice, body: body.subarray(t + e), radius: radii(t + e, end) }, this.shading);
    this.#scene.add(this.#surface.object, this.#edges.object, this.#points.object);
    this.#bodyOfVertex = new Uint32Array(vertices);
    corners.forEach((v, k) => (this.#bodyOfVertex[v] = body[(k / 3) | 0]));
    edges.forEach((v, k) => (this.#bodyOfVertex[v] = body[t + (k >> 1)]));
    points.forEach((v, k) => (this.#bodyOfVertex[v] = body[t + e + k]));
    this.#obstacles = run.bodies.map((b) => b.obstacle);
    this.#flat = run.dimension === 2;
    this.#largestForce = 0;
    this.#marker.visible = false;
  }

  /** Diagonal of what is shown at first, m. */
  get size(): number {
    return this.#size;
  }

  bodyOfVertex(vertex: number): number {
    return this.#bodyOfVertex[vertex];
  }

  /** Number of triangles, segments and points. */
  get cells(): [number, number, number] {
    const sticks = (tubes: Tubes | undefined) => tubes?.sticks.body.length ?? 0;
    return [(this.#surface?.triangles.corners.length ?? 0) / 3, sticks(this.#edges), sticks(this.#points)];
  }

  setFrame(frame: Arrays): void {
    this.#positions = floats(frame, "positions") ?? new Float32Array();
    this.#forces = floats(frame, "contact_force");
    for (let v = 0; v < (this.#forces?.length ?? 0); v += 3) {
      const [x, y, z] = this.#forces!.subarray(v, v + 3);
      this.#largestForce = Math.max(this.#largestForce, Math.hypot(x, y, z));
    }
    this.update();
  }

  /** Draws what the settings say at the positions of the frame. */
  update(): void {
    const { settings, shading } = this;
    const { uniforms } = shading;
    uniforms.wireframe.value = settings.wireframe;
    uniforms.smoothShading.value = settings.smooth;
    uniforms.thickness.value = settings.thickness;
    const surface = this.#surface;
    if (surface) {
      const thick = settings.thickness && surface.isThick;
      surface.setPositions(this.#positions, settings.smooth || thick, thick);
    }
    this.#edges?.setPositions(this.#positions);
    this.#points?.setPositions(this.#positions);
    this.#planes.visible = settings.planes;
    this.updateArrows();
    this.draw();
  }

  updateArrows(): void {
    const { arrows, arrowLength } = this.settings;
    if (!arrows || !this.#forces || this.#largestForce === 0) {
      this.#arrows.hide();
      return;
    }
    const scale = (0.15 * this.#size * 10 ** arrowLength) / this.#largestForce;
    const shown = (v: number) => this.shading.isVisible(this.#bodyOfVertex[v]);
    this.#arrows.set(this.#positions, this.#forces, scale, shown);
  }

  /** Values of the visible vertices, or of the visible cells. */
  setValues(values: Float32Array, ofCells: boolean): void {
    const [t, e] = this.cells;
    const part = (from: number, to?: number) => (ofCells ? values.subarray(from, to) : values);
    this.#surface?.setValues(part(0, t), ofCells);
    this.#edges?.setValues(part(t, t + e), ofCells);
    this.#points?.setValues(part(t + e), ofCells);
  }

  /** Shows the whole scene, or what is near a place. */
  fit(place?: { centre: THREE.Vector3; size: number }): void {
    const direction = this.#camera.position.clone().sub(this.#controls.target);
    if (direction.lengthSq() === 0 || !place) {
      if (this.#flat) direction.set(0, 0, 1);
      else direction.set(0.55, 0.42, 1);
    }
    const { centre, size } = place ?? { centre: this.#centre, size: this.#size };
    const distance = (0.55 * size) / Math.tan((this.#camera.fov * Math.PI) / 360);
    this.#controls.target.copy(centre);
    this.#camera.position.copy(centre).addScaledVector(direction.normalize(), distance);
    this.#controls.update();
    this.draw();
  }

  /** Finds the size of the scene: of what is free to move, with obstacles that are not much larger. */
  measure(halfSpaces: HalfSpace[]): void {
    const box = new THREE.Box3();
    const all = new THREE.Box3();
    const p = new THREE.Vector3();
    for (let v = 0; v < this.#bodyOfVertex.length; v++) {
      p.fromArray(this.#positions, 3 * v);
      if (!Number.isFinite(p.lengthSq())) continue;
      all.expandByPoint(p);
      if (!this.#obstacles[this.#bodyOfVertex[v]]) box.expandByPoint(p);
    }
    const diagonal = (b: THREE.Box3) => b.getSize(new THREE.Vector3()).length();
    if (box.isEmpty() || diagonal(all) < 3 * diagonal(box)) box.copy(all);
    // a body in the air is seen with the ground below it
    const own = diagonal(box);
    const centre = box.getCenter(new THREE.Vector3());
    for (const h of halfSpaces) {
      const plane = new THREE.Plane().setFromNormalAndCoplanarPoint(
        new THREE.Vector3(...h.normal).normalize(),
        new THREE.Vector3(...h.origin),
      );
      const foot = plane.projectPoint(centre, new THREE.Vector3());
      if (foot.distanceTo(centre) < 4 * own) box.expandByPoint(foot);
    }
    this.#size = diagonal(box) || 1;
    box.getCenter(this.#centre);
    this.#showPlanes(halfSpaces);
  }

  #showPlanes(halfSpaces: HalfSpace[]): void {
    this.#planes.clear();
    for (const h of halfSpaces) {
      const normal = new THREE.Vector3(...h.normal).normalize();
      const origin = new THREE.Vector3(...h.origin);
      const plane = new THREE.Plane().setFromNormalAndCoplanarPoint(normal, origin);
      const at = plane.projectPoint(this.#centre, new THREE.Vector3());
      // lines at a round distance
      const spacing = 10 ** Math.floor(Math.log10(this.#size / 2));
      const count = 2 * Math.ceil((2 * this.#size) / spacing);
      const grid = new THREE.GridHelper(count * spacing, count, 0x8d97a5, 0xb4bcc7);
      const material = grid.material as THREE.LineBasicMaterial;
      material.transparent = true;
      material.opacity = 0.6;
      grid.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), normal);
      grid.position.copy(at);
      // in the plane a line is left of it
      if (this.#flat) grid.scale.z = 0;
      this.#planes.add(grid);
    }
  }

  /** What is drawn at a place of the page. */
  pick(clientX: number, clientY: number): Picked | undefined {
    const area = this.canvas.getBoundingClientRect();
    const x = (2 * (clientX - area.left)) / area.width - 1;
    const y = 1 - (2 * (clientY - area.top)) / area.height;
    const caster = new THREE.Raycaster();
    caster.setFromCamera(new THREE.Vector2(x, y), this.#camera);
    const visible = (body: number) => this.shading.isVisible(body);
    const slack = (6 / area.height) * Math.tan((this.#camera.fov * Math.PI) / 360);
    const [t, e] = this.cells;
    const candidates = [
      { first: 0, hit: this.#surface && hitTriangle(caster.ray, this.#surface.triangles, this.#positions, visible) },
      { first: t, hit: this.#edges && hitStick(caster.ray, this.#edges.sticks, this.#positions, visible, slack) },
      { first: t + e, hit: this.#points && hitStick(caster.ray, this.#points.sticks, this.#positions, visible, slack) },
    ];
    const hits = candidates.flatMap(({ first, hit }) => (hit ? [{ first, hit }] : []));
    hits.sort((a, b) => a.hit.distance - b.hit.distance);
    if (hits.length === 0) return undefined;
    const { first, hit } = hits[0];
    return { cell: first + hit.index, vertex: hit.vertex, body: this.#bodyOfVertex[hit.vertex] };
  }

  /** Marks a vertex, or none. */
  mark(vertex: number | undefined): void {
    this.#marker.visible = vertex !== undefined;
    if (vertex !== undefined) {
      const attribute = this.#marker.geometry.getAttribute("position") as THREE.BufferAttribute;
      attribute.copyArray(this.#positions.subarray(3 * vertex, 3 * vertex + 3));
      attribute.needsUpdate = true;
    }
    this.draw();
  }

  /** Position of a visible vertex, m. */
  position(vertex: number): Float32Array {
    return this.#positions.subarray(3 * vertex, 3 * vertex + 3);
  }

  /** Draws before the next picture of the screen. */
  draw(): void {
    if (this.#due) return;
    this.#due = true;
    requestAnimationFrame(() => this.drawNow());
  }

  drawNow(): void {
    this.#due = false;
    const distance = this.#camera.position.distanceTo(this.#controls.target);
    this.#camera.near = Math.max(1e-3 * distance, 1e-5 * this.#size);
    this.#camera.far = distance + 20 * this.#size;
    this.#camera.updateProjectionMatrix();
    this.#renderer.render(this.#scene, this.#camera);
  }

  #resize(): void {
    const { clientWidth, clientHeight } = this.canvas.parentElement ?? this.canvas;
    const [width, height] = [Math.max(clientWidth, 1), Math.max(clientHeight, 1)];
    this.#renderer.setPixelRatio(window.devicePixelRatio);
    this.#renderer.setSize(width, height, false);
    this.shading.uniforms.height.value = height;
    this.#camera.aspect = width / height;
    this.#camera.updateProjectionMatrix();
    this.draw();
  }
}
