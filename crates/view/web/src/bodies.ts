// The list of bodies, which of them are shown and selected, and the values of what was picked.

import { Arrays, Body, Colouring, floats, indices, Run } from "./api";
import { bodyColours, short } from "./colour";
import { magnitudes, title } from "./colouring";
import { make, part } from "./dom";
import { Picked, Stage } from "./stage";

/** Bodies that are listed; a scene may have 100,000. */
const LISTED = 500;

export class BodyPanel {
  #bodies: Body[] = [];
  #visible: boolean[] = [];
  #selected = new Set<number>();
  #picked: Picked | undefined;
  #mesh: Arrays | undefined;
  #frame: Arrays | undefined;
  #arrays: Colouring[] = [];

  constructor(
    readonly stage: Stage,
    /** Other bodies are shown, or something else was picked. */
    readonly changed: (visibility: boolean) => void,
  ) {
    part("show-all").addEventListener("click", () => this.#show(() => true));
    part("show-selected").addEventListener("click", () => {
      this.#show((body) => this.#selected.size === 0 || this.#selected.has(body));
    });
  }

  setRun(run: Run, mesh: Arrays): void {
    this.#bodies = run.bodies;
    this.#mesh = mesh;
    this.#visible = run.bodies.map(() => true);
    this.#selected.clear();
    this.#picked = undefined;
    const colours = bodyColours(run.bodies);
    this.stage.shading.setBodies(colours);
    const rows = run.bodies.slice(0, LISTED).map((body, k) => this.#row(body, k, colours[k]));
    if (run.bodies.length > LISTED) rows.push(make("p", `and ${run.bodies.length - LISTED} more`));
    part("bodies").replaceChildren(...rows);
    this.#update();
  }

  setArrays(arrays: Colouring[]): void {
    this.#arrays = arrays;
  }

  /** Whether values of all arrays are wanted. */
  get wantsAll(): boolean {
    return this.#picked !== undefined || this.#selected.size > 0;
  }

  setFrame(frame: Arrays): void {
    this.#frame = frame;
    this.#showValues();
  }

  pick(picked: Picked | undefined): void {
    this.#picked = picked;
    this.#selected.clear();
    this.#update();
    this.changed(false);
  }

  select(body: number, more: boolean): void {
    const alone = this.#selected.has(body) && this.#selected.size === 1;
    const had = more ? this.#selected.has(body) : alone;
    if (!more) this.#selected.clear();
    if (had) this.#selected.delete(body);
    else this.#selected.add(body);
    this.#picked = undefined;
    this.#update();
    this.changed(false);
  }

  #row(body: Body, index: number, [r, g, b]: [number, number, number]): HTMLElement {
    const row = make("div", "", "body");
    row.dataset.body = String(index);
    const check = make("input");
    check.type = "checkbox";
    check.checked = true;
    check.title = "Show";
    check.addEventListener("change", () => {
      this.#visible[index] = check.checked;
      this.#update();
      this.changed(true);
    });
    const swatch = make("span", "", "swatch");
    swatch.style.background = `rgb(${r} ${g} ${b})`;
    const name = make("button", body.name, "name");
    name.title = "Select; with Ctrl also others";
    name.addEventListener("click", (e) => this.select(index, e.ctrlKey || e.metaKey));
    row.append(check, swatch, name);
    return row;
  }

  #show(which: (body: number) => boolean): void {
    this.#visible = this.#visible.map((_, k) => which(k));
    this.#update();
    this.changed(true);
  }

  #update(): void {
    this.#visible.forEach((v, k) => this.stage.shading.setState(k, v, this.#selected.has(k)));
    for (const row of part("bodies").querySelectorAll<HTMLElement>(".body")) {
      const index = Number(row.dataset.body);
      row.setAttribute("aria-selected", String(this.#selected.has(index)));
      const check = row.querySelector("input");
      if (check) check.checked = this.#visible[index];
    }
    this.#showValues();
    this.stage.draw();
  }

  #showValues(): void {
    const picked = this.#picked;
    const [selected] = this.#selected;
    const rows =
      picked !== undefined ? this.#valuesOfVertex(picked) : selected !== undefined ? this.#valuesOfBody(selected) : [];
    part("picked").hidden = rows.length === 0;
    const cells = rows.map(([name, value]) => {
      const row = make("tr");
      row.append(make("td", name), make("td", value));
      return row;
    });
    part("values").replaceChildren(...cells);
    this.stage.mark(picked?.vertex);
  }

  #valuesOfVertex({ vertex, cell, body }: Picked): [string, string][] {
    const [mesh, frame] = [this.#mesh, this.#frame];
    if (!mesh || !frame) return [];
    const index = indices(mesh, "vertex")[vertex] - this.#bodies[body].first_vertex;
    const rows: [string, string][] = [
      ["body", this.#bodies[body].name],
      ["vertex", String(index)],
      ["position (m)", Array.from(this.stage.position(vertex), short).join(", ")],
    ];
    for (const array of this.#arrays) {
      const data = floats(frame, array.name);
      if (!data) continue;
      const n = array.components;
      const at = n * (array.of === "cell" ? cell : vertex);
      const values = Array.from(data.subarray(at, at + n));
      const size = n > 1 ? ` (${values.map(short).join(", ")})` : "";
      const far = array.name === "gap" && !Number.isFinite(values[0]);
      rows.push([title(array), far ? "farther than d̂" : short(Math.hypot(...values) * (n > 1 ? 1 : Math.sign(values[0]))) + size]);
    }
    const thickness = floats(mesh, "thickness")?.[cell];
    if (thickness) rows.push(["thickness (m)", short(thickness)]);
    const radius = floats(mesh, "radius")?.[cell];
    if (radius) rows.push(["radius (m)", short(radius)]);
    return rows;
  }

  #valuesOfBody(body: number): [string, string][] {
    const [mesh, frame, about] = [this.#mesh, this.#frame, this.#bodies[body]];
    if (!mesh || !frame) return [];
    const rows: [string, string][] = [
      ["body", about.name + (about.obstacle ? " (obstacle)" : "")],
      ["vertices", String(about.vertices)],
    ];
    if (about.contact_thickness > 0) rows.push(["thickness (m)", short(about.contact_thickness)]);
    const ofCell = indices(mesh, "body");
    for (const array of this.#arrays) {
      const data = floats(frame, array.name);
      if (!data) continue;
      const isOwn = (k: number) => (array.of === "cell" ? ofCell[k] : this.stage.bodyOfVertex(k)) === body;
      let [low, high] = [Infinity, -Infinity];
      magnitudes(data, array.components).forEach((value, k) => {
        if (!isOwn(k) || !Number.isFinite(value)) return;
        low = Math.min(low, value);
        high = Math.max(high, value);
      });
      const none = array.name === "gap" ? "farther than d̂" : "–";
      rows.push([title(array), low > high ? none : `${short(low)} to ${short(high)}`]);
      if (array.name === "contact_force") {
        const total = [0, 0, 0];
        data.forEach((f, k) => (total[k % 3] += isOwn((k / 3) | 0) ? f : 0));
        rows.push(["sum of the forces (N)", total.map(short).join(", ")]);
      }
    }
    return rows;
  }
}
