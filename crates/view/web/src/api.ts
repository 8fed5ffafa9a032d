// What the server says. The binary containers are described in src/container.rs.

/** Version of what the server and this page say to each other; src/state.rs has the same. */
export const API = 1;

export interface Body {
  name: string;
  obstacle: boolean;
  first_vertex: number;
  vertices: number;
  contact_thickness: number;
}

export interface HalfSpace {
  name: string;
  origin: [number, number, number];
  normal: [number, number, number];
}

export interface Colouring {
  name: string;
  of: "vertex" | "cell";
  components: number;
  unit: string;
}

export interface Run {
  api: number;
  program: string;
  folder: string;
  generation: string;
  live: boolean;
  bodies: Body[];
  half_spaces: HalfSpace[];
  dimension: 2 | 3;
  time_step: number;
  gap_reach: number;
  frames: number[];
  arrays: Colouring[];
  stats_length: number;
  failed: boolean;
}

export interface Primitive {
  body: number;
  vertices: number[];
  positions: [number, number, number][];
}

export interface Failure {
  step: number;
  message: string;
  last_good_step: number;
  culprits: { what: string; bodies: string[]; gap: number | null; primitives: Primitive[] }[];
}

/** A line of stats.jsonl, as far as it is shown. */
export interface Step {
  step: number;
  time: number;
  outcome: string;
  newton_iterations: number;
  contacts: number;
  min_gap: number | null;
  imbalance: number;
  kinetic_energy: number;
  elastic_energy: number;
  gravity_energy: number;
  contact_energy: number;
  seconds: Record<string, number>;
}

export type Data = Float32Array | Uint32Array;
export interface NamedArray {
  components: number;
  data: Data;
}

/** Arrays by name. */
export interface Arrays {
  about: Record<string, unknown>;
  arrays: Map<string, NamedArray>;
  bytes: number;
}

/** Something that the server refused. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** The server has gone. */
export class Unreachable extends Error {}

/** Whether this page is a file that has the run in it (src/html.rs), and needs no server. */
export const IS_FILE = document.getElementById("api/run") !== null;

/** What the file has in it as the answer to a question. */
async function find(path: string): Promise<Response> {
  const element = document.getElementById(path.split("?")[0]);
  if (!element) throw new Refused(404, `This file does not have ${path}.`);
  const packed = Uint8Array.from(atob(element.textContent ?? ""), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  return new Response(element.dataset.kind === "planes" ? join(bytes) : bytes);
}

/** Numbers of four bytes, of which all first bytes come first. */
function join(planes: Uint8Array): Uint8Array<ArrayBuffer> {
  const count = planes.length / 4;
  const bytes = new Uint8Array(planes.length);
  for (let plane = 0; plane < 4; plane++) {
    for (let k = 0; k < count; k++) bytes[4 * k + plane] = planes[plane * count + k];
  }
  return bytes;
}

async function get(path: string): Promise<Response> {
  if (IS_FILE) return find(path);
  const response = await fetch(path).catch((error) => {
    throw new Unreachable(String(error));
  });
  if (!response.ok) throw new Refused(response.status, (await response.text()).trim());
  return response;
}

export async function getRun(): Promise<Run> {
  return (await get("api/run")).json();
}

export async function getFailure(): Promise<Failure> {
  return (await get("api/failure")).json();
}

/** Whole lines of the statistics from a byte on, and how many bytes they are. */
export async function getStats(from: number): Promise<{ steps: Step[]; bytes: number }> {
  const buffer = await (await get(`api/stats?from=${from}`)).arrayBuffer();
  const lines = new TextDecoder().decode(buffer).split("\n");
  return { steps: lines.filter((l) => l.length > 0).map((l) => JSON.parse(l)), bytes: buffer.byteLength };
}

export async function getMesh(generation: string): Promise<Arrays> {
  return decode(await (await get(`api/mesh?generation=${generation}`)).arrayBuffer());
}

export async function getFrame(generation: string, step: number, arrays: string[]): Promise<Arrays> {
  const query = `generation=${generation}&arrays=${arrays.join(",")}`;
  return decode(await (await get(`api/frame/${step}?${query}`)).arrayBuffer());
}

function decode(buffer: ArrayBuffer): Arrays {
  const headLength = new DataView(buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, headLength)));
  const arrays = new Map<string, NamedArray>();
  for (const { name, type, components, offset, length } of head.arrays) {
    const kind = type === "f32" ? Float32Array : Uint32Array;
    arrays.set(name, { components, data: new kind(buffer, 4 + headLength + offset, length) });
  }
  return { about: head.about, arrays, bytes: buffer.byteLength };
}

export function floats(arrays: Arrays, name: string): Float32Array | undefined {
  const data = arrays.arrays.get(name)?.data;
  return data instanceof Float32Array ? data : undefined;
}

export function indices(arrays: Arrays, name: string): Uint32Array {
  const data = arrays.arrays.get(name)?.data;
  return data instanceof Uint32Array ? data : new Uint32Array();
}

/** Frames that were asked for, of which those used last are kept up to a number of bytes. */
export class Frames {
  #kept = new Map<string, { frame: Promise<Arrays>; bytes: number }>();
  #bytes = 0;

  constructor(
    readonly generation: string,
    readonly limit = 256 * 2 ** 20,
  ) {}

  get(step: number, arrays: string[]): Promise<Arrays> {
    // a file has all arrays of a frame together
    const key = IS_FILE ? `${step}` : `${step} ${arrays.join()}`;
    const held = this.#kept.get(key);
    if (held) {
      // the last in the order is the one used last
      this.#kept.delete(key);
      this.#kept.set(key, held);
      return held.frame;
    }
    const frame = getFrame(this.generation, step, arrays);
    const entry = { frame, bytes: 0 };
    this.#kept.set(key, entry);
    frame.then(
      ({ bytes }) => {
        if (this.#kept.get(key) !== entry) return;
        entry.bytes = bytes;
        this.#bytes += bytes;
        for (const [old, { bytes }] of this.#kept) {
          if (this.#bytes <= this.limit || old === key) break;
          this.#kept.delete(old);
          this.#bytes -= bytes;
        }
      },
      () => this.#kept.delete(key),
    );
    return frame;
  }
}
