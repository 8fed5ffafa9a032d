// Colours of values and of bodies.

import {
  interpolateCividis,
  interpolateGreys,
  interpolateInferno,
  interpolateRdBu,
  interpolateTurbo,
  interpolateViridis,
  schemeTableau10,
} from "d3-scale-chromatic";

export const MAPS: Record<string, (t: number) => string> = {
  viridis: interpolateViridis,
  inferno: interpolateInferno,
  cividis: interpolateCividis,
  turbo: interpolateTurbo,
  "blue–red": (t) => interpolateRdBu(1 - t),
  greys: interpolateGreys,
};

function rgb(text: string): [number, number, number] {
  if (text.startsWith("#")) {
    const n = parseInt(text.slice(1), 16);
    return [n >> 16, (n >> 8) & 255, n & 255];
  }
  const [r, g, b] = (text.match(/[\d.]+/g) ?? []).map(Number);
  return [r, g, b];
}

/** 256 colours with alpha. */
export function table(map: string): Uint8Array {
  const colours = new Uint8Array(4 * 256);
  for (let k = 0; k < 256; k++) colours.set([...rgb(MAPS[map](k / 255)), 255], 4 * k);
  return colours;
}

/** A strip of the map, for CSS. */
export function gradient(map: string): string {
  return `linear-gradient(to right, ${Array.from({ length: 17 }, (_, k) => MAPS[map](k / 16)).join(", ")})`;
}

/** Obstacles are grey, others differ from their neighbours in the list. */
export function bodyColours(bodies: { obstacle: boolean }[]): [number, number, number][] {
  let next = 0;
  // its last colour is the grey of obstacles
  const scheme = schemeTableau10.slice(0, 9);
  return bodies.map((b) => (b.obstacle ? [170, 172, 176] : rgb(scheme[next++ % scheme.length])));
}

/** A number with four digits, in few characters. */
export function short(value: number): string {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (value === 0) return "0";
  const rounded = Number(value.toPrecision(4));
  return size >= 1e-3 && size < 1e5 ? String(rounded) : rounded.toExponential();
}
