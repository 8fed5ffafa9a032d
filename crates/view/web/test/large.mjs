// How fast the viewer is with 100,000 triangles and 1,000 frames: `node test/large.mjs`, with the program and the
// browser of browser.mjs. Prints how many frames the server delivers, how long the page works on one besides
// drawing, and how many it shows in a second, here drawn by the processor, without a graphics card.

import { linkSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { browser, check, interrupt, open, processes, serve, until, work } from "./support.mjs";

const [COLUMNS, ROWS, FRAMES, DISTINCT] = [250, 200, 1000, 50];
const triangles = 2 * COLUMNS * ROWS;
const vertices = (COLUMNS + 1) * (ROWS + 1);

/** A frame as standoff writes it: a sheet with waves, and its speeds. */
function frame(step) {
  const points = new Float64Array(3 * vertices);
  const velocity = new Float64Array(3 * vertices);
  const t = (2 * Math.PI * step) / DISTINCT;
  for (let j = 0, v = 0; j <= ROWS; j++) {
    for (let i = 0; i <= COLUMNS; i++, v++) {
      const [x, z] = [i / COLUMNS, j / ROWS];
      points.set([x, 0.05 * Math.sin(12 * x + t) * Math.cos(9 * z), z], 3 * v);
      velocity[3 * v + 1] = Math.cos(12 * x + t) * Math.cos(9 * z);
    }
  }
  const connectivity = new Uint32Array(3 * triangles);
  for (let j = 0, k = 0; j < ROWS; j++) {
    for (let i = 0; i < COLUMNS; i++) {
      const [a, b] = [j * (COLUMNS + 1) + i, (j + 1) * (COLUMNS + 1) + i];
      for (const v of [a, b, a + 1, a + 1, b, b + 1]) connectivity[k++] = v;
    }
  }
  const sections = [
    ["FieldData", [["TimeValue", "Float64", 1, Float64Array.of(step / 100)]]],
    ["PointData", [["velocity", "Float64", 3, velocity]]],
    ["CellData", [["body", "Int32", 1, new Uint32Array(triangles)]]],
    ["Points", [["points", "Float64", 3, points]]],
    [
      "Cells",
      [
        ["connectivity", "Int32", 1, connectivity],
        ["offsets", "Int32", 1, Uint32Array.from({ length: triangles }, (_, k) => 3 * k + 3)],
        ["types", "UInt8", 1, new Uint8Array(triangles).fill(5)],
      ],
    ],
  ];
  let [head, offset] = ["<VTKFile>\n", 0];
  const parts = [];
  for (const [section, arrays] of sections) {
    head += `<${section}>\n`;
    for (const [name, type, components, data] of arrays) {
      head += `<DataArray type="${type}" Name="${name}" NumberOfComponents="${components}" format="appended" offset="${offset}"/>\n`;
      parts.push(new Uint8Array(BigUint64Array.of(BigInt(data.byteLength)).buffer), new Uint8Array(data.buffer));
      offset += 8 + data.byteLength;
    }
    head += `</${section}>\n`;
  }
  return Buffer.concat([Buffer.from(`${head}<AppendedData encoding="raw">\n_`), ...parts]);
}

try {
  const folder = join(work, "large");
  mkdirSync(join(folder, "frames"), { recursive: true });
  const name = (step) => join(folder, "frames", `${String(step).padStart(6, "0")}.vtu`);
  for (let step = 0; step < FRAMES; step++) {
    if (step < DISTINCT) writeFileSync(name(step), frame(step));
    // the same files again, so that the disk holds them
    else linkSync(name(step % DISTINCT), name(step));
  }
  const body = { name: "sheet", obstacle: false, first_vertex: 0, vertices };
  const info = { version: "0", bodies: [body], half_spaces: [], no_contact: [], self_contact: true, time_step: 0.01 };
  writeFileSync(join(folder, "run.json"), JSON.stringify(info));

  const { child, url } = await serve(["view", folder, "--listen", ":0"]);
  let [start, bytes] = [performance.now(), 0];
  const count = 200;
  for (let step = 0; step < count; step++) {
    bytes += (await (await fetch(`${url}api/frame/${step}?arrays=velocity`)).arrayBuffer()).byteLength;
  }
  const rate = (1000 * count) / (performance.now() - start);
  console.log(`server: ${rate.toFixed(0)} frames/s of ${(bytes / count / 2 ** 20).toFixed(2)} MiB`);

  const { page, problems } = await open(url);
  await until(() => page.evaluate(() => document.getElementById("canvas").dataset.step === "0"), "it is shown");
  await page.selectOption("#colour", "velocity");
  await page.selectOption("#speed", "60");
  const shown = () => page.evaluate(() => ({ ...document.getElementById("canvas").dataset, now: performance.now() }));
  await page.click("#play");
  await until(async () => Number((await shown()).step) > 20, "it plays");
  const before = await shown();
  await new Promise((wake) => setTimeout(wake, 10_000));
  const after = await shown();
  const seconds = (after.now - before.now) / 1000;
  const frames = Number(after.shown) - Number(before.shown);
  const effort = (Number(after.work) - Number(before.work)) / frames;
  const memory = await page.evaluate(() => performance.memory?.usedJSHeapSize ?? 0);
  console.log(`page: ${effort.toFixed(1)} ms of work per frame besides drawing, ${(frames / seconds).toFixed(1)} frames/s shown`);
  console.log(`page: ${(memory / 2 ** 20).toFixed(0)} MiB of JavaScript memory`);
  check(problems.length === 0, problems.join("\n"));
  await page.close();
  await interrupt(child);
} finally {
  await browser.close();
  for (const child of processes) child.kill();
  rmSync(work, { recursive: true });
}
