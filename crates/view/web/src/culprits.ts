// What made a step fail, in front of everything else.

import * as THREE from "three";
import { Failure } from "./api";

const COLOUR = 0xe6007e;

export class Culprits {
  readonly object = new THREE.Group();
  #centres: { centre: THREE.Vector3; size: number }[] = [];

  set(failure: Failure | undefined): void {
    for (const child of this.object.children) {
      (child as THREE.Mesh).geometry.dispose();
      ((child as THREE.Mesh).material as THREE.Material).dispose();
    }
    this.object.clear();
    this.#centres = [];
    const [points, lines, faces]: number[][] = [[], [], []];
    for (const culprit of failure?.culprits ?? []) {
      const box = new THREE.Box3();
      for (const { positions } of culprit.primitives) {
        positions.forEach((p) => box.expandByPoint(new THREE.Vector3(...p)));
        if (positions.length === 1) points.push(...positions[0]);
        for (let i = 0; i < positions.length; i++) {
          for (let j = 0; j < i; j++) {
            lines.push(...positions[i], ...positions[j]);
            for (let k = 0; k < j; k++) faces.push(...positions[i], ...positions[j], ...positions[k]);
          }
        }
      }
      this.#centres.push({
        centre: box.getCenter(new THREE.Vector3()),
        size: box.getSize(new THREE.Vector3()).length(),
      });
    }
    const before = { depthTest: false, depthWrite: false, transparent: true, color: COLOUR };
    const add = (made: THREE.Object3D) => {
      made.renderOrder = 10;
      made.frustumCulled = false;
      this.object.add(made);
    };
    const geometry = (list: number[]) =>
      new THREE.BufferGeometry().setAttribute("position", new THREE.Float32BufferAttribute(list, 3));
    if (faces.length > 0) {
      const material = new THREE.MeshBasicMaterial({ ...before, opacity: 0.35, side: THREE.DoubleSide });
      add(new THREE.Mesh(geometry(faces), material));
    }
    if (lines.length > 0) add(new THREE.LineSegments(geometry(lines), new THREE.LineBasicMaterial(before)));
    if (points.length > 0) {
      const material = new THREE.PointsMaterial({ ...before, size: 9, sizeAttenuation: false });
      add(new THREE.Points(geometry(points), material));
    }
  }

  /** Where a culprit is, and how large it is, m. */
  place(index: number): { centre: THREE.Vector3; size: number } | undefined {
    return this.#centres[index];
  }
}
