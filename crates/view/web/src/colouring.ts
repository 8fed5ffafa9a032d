// Which values the bodies are coloured by, and over which range.

import { Arrays, Colouring, floats, Run } from "./api";
import { gradient, MAPS, short, table } from "./colour";
import { input, offer, part, select } from "./dom";
import { Stage } from "./stage";

const NAMES: Record<string, string> = {
  velocity: "speed",
  contact_force: "contact force",
  von_mises: "von Mises stress",
  recovered_von_mises: "von Mises stress, recovered",
  stress_error: "estimated error of the stress",
  plastic_strain: "plastic strain",
  bending_energy: "bending energy",
  contact_reach: "reach of contact",
  gap: "gap",
};

/** What people call an array. */
export function title(array: Colouring): string {
  const name = NAMES[array.name] ?? array.name;
  return array.unit ? `${name} (${array.unit})` : name;
}

/** One number for each vertex or cell: of a vector its length. */
export function magnitudes(data: Float32Array, components: number): Float32Array {
  if (components === 1) return data;
  const lengths = new Float32Array(data.length / components);
  for (let k = 0; k < lengths.length; k++) {
    let sum = 0;
    for (let c = 0; c < components; c++) sum += data[k * components + c] ** 2;
    lengths[k] = Math.sqrt(sum);
  }
  return lengths;
}

const NONE = "";

export class ColourPanel {
  #run: Run | undefined;
  #values: Float32Array | undefined;
  /** Range of the values of each array in the frames that were seen. */
  #seen = new Map<string, [number, number]>();

  constructor(
    readonly stage: Stage,
    /** Of the visible cells. */
    readonly bodyOfCell: (cell: number) => number,
    readonly reload: () => void,
  ) {
    offer(select("map"), Object.keys(MAPS).map((value) => ({ value, text: value })));
    select("colour").addEventListener("change", () => this.reload());
    select("map").addEventListener("change", () => this.#apply());
    select("scaling").addEventListener("change", () => this.#apply());
    input("log").addEventListener("change", () => this.#apply());
    for (const end of ["low", "high"]) {
      input(end).addEventListener("change", () => {
        select("scaling").value = "fixed";
        this.#apply();
      });
    }
  }

  setRun(run: Run): void {
    if (this.#run?.generation !== run.generation) this.#seen.clear();
    this.#run = run;
    const choices = run.arrays.map((a) => ({ value: a.name, text: title(a) }));
    offer(select("colour"), [{ value: NONE, text: "body" }, ...choices]);
  }

  /** The array that is shown. */
  get array(): Colouring | undefined {
    return this.#run?.arrays.find((a) => a.name === select("colour").value);
  }

  /** Other bodies are shown than before. */
  forget(): void {
    this.#seen.clear();
  }

  setFrame(frame: Arrays): void {
    const { array } = this;
    const data = array && floats(frame, array.name);
    this.#values = undefined;
    if (array && data) {
      this.#values = magnitudes(data, array.components);
      const reach = this.#run?.gap_reach ?? 0;
      // farther away than is measured
      if (array.name === "gap") this.#values = this.#values.map((v) => (Number.isFinite(v) ? v : reach));
    }
    this.#apply();
  }

  #apply(): void {
    const { array, stage } = this;
    const { uniforms } = stage.shading;
    const values = this.#values;
    uniforms.byValue.value = values !== undefined;
    part("legend").hidden = values === undefined;
    part("range").style.visibility = values ? "" : "hidden";
    if (array && values) {
      const range = this.#range(array, values);
      const logarithmic = input("log").checked;
      if (logarithmic) range[0] = Math.max(range[0], 1e-6 * range[1]);
      stage.setValues(values, array.of === "cell");
      stage.shading.setMap(table(select("map").value));
      uniforms.range.value.set(...range);
      uniforms.logarithmic.value = logarithmic;
      [input("low").value, input("high").value] = range.map(short);
      this.#showLegend(array, range, logarithmic);
    }
    stage.draw();
  }

  #range(array: Colouring, values: Float32Array): [number, number] {
    let [low, high] = [Infinity, -Infinity];
    for (let k = 0; k < values.length; k++) {
      const body = array.of === "cell" ? this.bodyOfCell(k) : this.stage.bodyOfVertex(k);
      const value = values[k];
      if (!Number.isFinite(value) || !this.stage.shading.isVisible(body)) continue;
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
    if (low > high) [low, high] = [0, 1];
    const seen = this.#seen.get(array.name) ?? [low, high];
    const all: [number, number] = [Math.min(low, seen[0]), Math.max(high, seen[1])];
    this.#seen.set(array.name, all);
    const scaling = select("scaling").value;
    const typed = [Number(input("low").value), Number(input("high").value)];
    if (scaling === "fixed" && typed.every(Number.isFinite)) return [typed[0], typed[1]];
    return scaling === "frame" ? [low, high] : all;
  }

  #showLegend(array: Colouring, [low, high]: [number, number], logarithmic: boolean): void {
    part("legend-title").textContent = title(array);
    part("legend-bar").style.background = gradient(select("map").value);
    const middle = logarithmic ? Math.sqrt(low * high) : (low + high) / 2;
    const ticks = [low, middle, high].map((v) => {
      const tick = document.createElement("span");
      tick.textContent = short(v);
      return tick;
    });
    if (array.name === "gap" && high >= (this.#run?.gap_reach ?? Infinity)) ticks[2].prepend("≥ ");
    part("legend-ticks").replaceChildren(...ticks);
  }
}
