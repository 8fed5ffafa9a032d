// The viewer in a real browser without a window: `npm test`, after `npm run build` and a build of standoff
// with the page in it. STANDOFF names the program (target/release/standoff otherwise), CHROMIUM the browser
// (/usr/bin/chromium otherwise), SHOTS a folder for the pictures. PAGE=dist tests the page as it was built last instead of
// the one in the program.

import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { browser, check, checks, container, interrupt, open, processes, repository, serve, standoff, until, work } from "./support.mjs";

const shots = process.env.SHOTS ?? work;
mkdirSync(shots, { recursive: true });

const BLOCKED = `
time = { step = 0.02, end = 1 }
contact = { d_hat = 0.01 }
[[objects]]
name = "work"
shape = { kind = "box", size = [0.3, 0.3, 0.3] }
[[objects]]
name = "anvil"
role = "obstacle"
shape = { kind = "box", size = [1, 0.1, 1] }
translate = [0, -0.21, 0]
[[objects]]
name = "ram"
role = "obstacle"
shape = { kind = "box", size = [1, 0.1, 1] }
translate = [0, 0.22, 0]
[[objects.motion]]
velocity = [0, -1, 0]
`;

const THIN = `
ground = 0.0
time = { step = 0.01, end = 0.4 }
[[objects]]
name = "cloth"
role = "shell"
shape = { kind = "plane", size = [0.6, 0.6], cells = [12, 12] }
material = "felt"
translate = [0, 0.25, 0]
[[objects]]
name = "ball"
role = "obstacle"
shape = { kind = "sphere", radius = 0.12, layers = 4, surface = true }
translate = [0, 0.1, 0]
[[objects]]
name = "rod"
role = "rod"
radius = 0.012
shape = { kind = "polyline", segments = 12, points = [[-0.25, 0, 0], [0.25, 0, 0]] }
translate = [0, 0.32, 0.05]
[[objects]]
name = "grains"
role = "particles"
radius = 0.015
shape = { kind = "points", count = [3, 2, 3], size = [0.15, 0.06, 0.15] }
translate = [0, 0.42, 0]
[materials.felt.shell]
thickness = "8 mm"
`;

function scene(name, text) {
  const path = join(work, `${name}.toml`);
  writeFileSync(path, text);
  return path;
}

/** The runs, and what is looked at in each. */
const RUNS = [
  { name: "cubes", scene: join(repository, "scenes/two-cubes-fall.toml"), steps: 90, colour: "von_mises" },
  { name: "needles", scene: join(repository, "scenes/ball-on-needles.toml"), steps: 12, colour: "contact_force" },
  { name: "thin", scene: scene("thin", THIN), steps: 40, colour: "velocity" },
  { name: "table", scene: join(repository, "scenes/codim/tablecloth-pull.toml"), steps: 12, colour: "gap" },
  { name: "bowl", scene: join(repository, "scenes/planar/bowl.toml"), steps: 60, colour: "velocity", flat: [1.6, 1.12] },
  { name: "blocked", scene: scene("blocked", BLOCKED), fails: true, colour: "von_mises" },
];

/** Of the picture: how many pixels are no background and how wide and high they are, how many colours there are, and a sum that differs. */
function look(page) {
  return page.evaluate(async () => {
    await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
    const canvas = document.getElementById("canvas");
    const copy = document.createElement("canvas");
    [copy.width, copy.height] = [canvas.width, canvas.height];
    const context = copy.getContext("2d", { willReadFrequently: true });
    context.drawImage(canvas, 0, 0);
    const { data } = context.getImageData(0, 0, copy.width, copy.height);
    let [drawn, culprit, hash] = [0, 0, 0];
    const colours = new Set();
    const [low, high] = [[Infinity, Infinity], [-Infinity, -Infinity]];
    for (let k = 0; k < data.length; k += 4) {
      const [r, g, b] = [data[k], data[k + 1], data[k + 2]];
      colours.add((r << 16) | (g << 8) | b);
      if (r !== 0xe9 || g !== 0xed || b !== 0xf2) {
        drawn++;
        [(k / 4) % copy.width, Math.floor(k / 4 / copy.width)].forEach((at, axis) => {
          low[axis] = Math.min(low[axis], at);
          high[axis] = Math.max(high[axis], at);
        });
      }
      if (r > 180 && g < 80 && b > 80) culprit++;
      hash = (Math.imul(hash, 31) + r * 7 + g * 3 + b) | 0;
    }
    const extent = [high[0] - low[0], high[1] - low[1]];
    return { drawn: (4 * drawn) / data.length, extent, colours: colours.size, culprit, hash };
  });
}

const step = (page) => page.evaluate(() => Number(document.getElementById("canvas").dataset.step ?? -1));
const visible = (page, id) => page.locator(`#${id}`).isVisible();

/** Clicks here and there until something is picked, and compares its position with the server's. */
async function pick(page, url) {
  const area = await page.locator("#canvas").boundingBox();
  for (const [x, y] of [[0.5, 0.5], [0.45, 0.55], [0.55, 0.45], [0.5, 0.4], [0.5, 0.6], [0.4, 0.5], [0.6, 0.5], [0.5, 0.7]]) {
    await page.mouse.click(area.x + x * area.width, area.y + y * area.height);
    if (await visible(page, "picked")) break;
  }
  check(await visible(page, "picked"), "something is picked");
  await until(async () => (await page.locator("#values").textContent()).includes("speed"), "all values are there");
  const values = Object.fromEntries(
    await page.locator("#values tr").evaluateAll((rows) => rows.map((r) => Array.from(r.cells, (c) => c.textContent))),
  );
  const run = await (await fetch(`${url}api/run`)).json();
  const body = run.bodies.find((b) => b.name === values.body);
  check(body !== undefined, "a body of the run");
  const mesh = await container(`${url}api/mesh`);
  const frame = await container(`${url}api/frame/${await step(page)}`);
  const at = mesh.vertex.indexOf(body.first_vertex + Number(values.vertex));
  const expected = frame.positions.subarray(3 * at, 3 * at + 3);
  values["position (m)"].split(", ").forEach((text, k) => {
    check(Math.abs(Number(text) - expected[k]) <= 1e-3 * Math.abs(expected[k]) + 1e-9, `${text} is ${expected[k]}`);
  });
  return values;
}

async function afterTheRun({ name, scene, steps, fails, colour, flat }) {
  const folder = join(work, name);
  const args = ["run", scene, "-o", folder, "--quiet", ...(steps ? ["--steps", steps] : [])];
  const ran = spawnSync(standoff, args, { encoding: "utf8" });
  check(ran.status === (fails ? 1 : 0), `${name}: ${ran.stderr}`);
  const { child, url } = await serve(["view", folder, "--listen", ":0"]);
  check(url.startsWith("http://127.0.0.1:"), "loopback by default");
  const { page, problems } = await open(url);
  await until(async () => (await step(page)) >= 0, `${name} is shown`);
  await until(async () => (await page.locator(".plot canvas").count()) === 6, "there are six plots");
  const first = await look(page);
  check(first.drawn > 0.02 && first.colours > 20, `${name}: the picture is not blank: ${JSON.stringify(first)}`);
  check(!(await page.locator("#notice").textContent()), "no notice");
  if (flat) {
    const [ratio, wanted] = [first.extent[0] / first.extent[1], flat[0] / flat[1]];
    check(Math.abs(ratio / wanted - 1) < 0.03, `two dimensions are seen straight from the front: ${ratio}, ${wanted}`);
  }

  if (!fails) {
    // plays from the first frame to the last
    check((await step(page)) === 0, "begins with the first frame");
    await page.selectOption("#speed", "60");
    await page.click("#play");
    await until(async () => (await step(page)) > 2, "it plays");
    await until(async () => (await step(page)) === steps, "it plays to the end");
    await until(async () => (await page.locator("#play").textContent()) === "▶", "and stops there");
    check((await look(page)).hash !== first.hash, "the picture has changed");
  }

  // colours
  const plain = await look(page);
  check(!(await visible(page, "legend")), "no legend without values");
  await page.selectOption("#colour", colour);
  await until(() => visible(page, "legend"), "the legend is there");
  await until(async () => (await look(page)).hash !== plain.hash, `the colours of ${colour} differ`);
  await page.selectOption("#scaling", "frame");
  const shown = await page.evaluate(() => ["low", "high"].map((id) => Number(document.getElementById(id).value)));
  const frame = await container(`${url}api/frame/${await step(page)}?arrays=${colour}`);
  const n = { velocity: 3, contact_force: 3 }[colour] ?? 1;
  const values = Array.from({ length: frame[colour].length / n }, (_, k) => Math.hypot(...frame[colour].subarray(n * k, n * k + n)));
  if (colour !== "gap") {
    const highest = Math.max(...values);
    check(Math.abs(shown[1] - highest) <= 1e-3 * highest, `${colour}: ${shown[1]} is ${highest}`);
  }
  await page.screenshot({ path: join(shots, `${name}-${colour}.png`) });

  // everything that can be switched changes the picture, and back
  for (const id of ["wireframe", ...(flat ? [] : ["smooth"]), ...(name === "thin" ? ["thickness"] : [])]) {
    const before = await look(page);
    await page.click(`#${id}`);
    check((await look(page)).hash !== before.hash, `${name}: #${id} changes the picture`);
    if (id === "wireframe") await page.screenshot({ path: join(shots, `${name}-wireframe.png`) });
    await page.click(`#${id}`);
    check((await look(page)).hash === before.hash, `${name}: #${id} changes it back`);
  }
  await page.check("#arrows");
  const arrows = () => page.evaluate(() => Number(document.getElementById("canvas").dataset.arrows));
  await until(async () => (await arrows()) > 0, `${name}: contact forces are arrows`);
  await page.screenshot({ path: join(shots, `${name}-arrows.png`) });

  await pick(page, url);
  await page.screenshot({ path: join(shots, `${name}-picked.png`) });
  // a body by its name; hidden, it is not seen
  const row = page.locator("#bodies .body").first();
  await row.locator("button").click();
  check((await row.getAttribute("aria-selected")) === "true", "the body is selected");
  await until(async () => (await page.locator("#values").textContent()).includes("vertices"), "its values are there");
  const before = await look(page);
  await row.locator("input").uncheck();
  check((await look(page)).hash !== before.hash, "a hidden body is not seen");
  await row.locator("input").check();

  if (fails) {
    check(await visible(page, "failure"), "the failure is told");
    const report = JSON.parse(readFileSync(join(folder, "failure.json"), "utf8"));
    check((await page.locator("#failure-message").textContent()).includes(report.message), "with its message");
    check((await page.locator("#culprits li").count()) === report.culprits.length, "and all culprits");
    await page.uncheck("#arrows");
    const marked = await look(page);
    await page.uncheck("#show-culprits");
    const unmarked = await look(page);
    check(marked.culprit > unmarked.culprit + 50, `culprits are marked: ${marked.culprit}, ${unmarked.culprit}`);
    await page.check("#show-culprits");
    await page.locator("#culprits li").first().click();
    check((await look(page)).hash !== marked.hash, "the camera comes closer");
    await page.screenshot({ path: join(shots, `${name}-culprit.png`) });
    await page.click("#fit");
  }

  // the screenshot of the page itself
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("#screenshot")]);
  const picture = join(shots, `${name}-saved.png`);
  await download.saveAs(picture);
  check(/-\d{6}\.png$/.test(download.suggestedFilename()), download.suggestedFilename());
  const colours = await page.evaluate(async (base64) => {
    const image = new Image();
    image.src = `data:image/png;base64,${base64}`;
    await image.decode();
    const copy = document.createElement("canvas");
    [copy.width, copy.height] = [image.width, image.height];
    const context = copy.getContext("2d");
    context.drawImage(image, 0, 0);
    return new Set(new Uint32Array(context.getImageData(0, 0, copy.width, copy.height).data.buffer)).size;
  }, readFileSync(picture).toString("base64"));
  check(colours > 20, `the saved picture has ${colours} colours`);

  check(problems.length === 0, problems.join("\n"));
  await page.close();
  check((await interrupt(child)) === 0, "Ctrl-C ends it");
  console.log(`ok  ${name}`);
}

/** The run as one file, opened from the file system: the same pictures as from a server, and nothing is loaded. */
async function asFile({ name, fails, colour }) {
  const folder = join(work, name);
  const file = join(shots, "files", `${name}.html`);
  const args = ["export", folder, "-o", file, "--force"];
  const told = spawnSync(standoff, args, { encoding: "utf8" });
  check(told.status === 0, `${name}: ${told.stderr}`);
  console.log(`    ${told.stdout.trim().split("/").at(-1)}`);
  const { child, url } = await serve(["view", folder, "--listen", ":0"]);
  const [served, saved] = [await open(url), await open(pathToFileURL(file).href)];
  const pages = [served.page, saved.page];
  for (const page of pages) await until(async () => (await step(page)) >= 0, `${name} is shown from a file`);
  // it is set after the first frame is shown
  await until(async () => (await saved.page.title()) === `${name} – Standoff`, "it has the run's name");
  const { frames } = await (await fetch(`${url}api/run`)).json();
  const same = async (what) => {
    // a server answers later than a file
    const alike = async () => {
      const [expected, got] = [await look(pages[0]), await look(pages[1])];
      return got.colours > 20 && got.hash === expected.hash;
    };
    await until(alike, `${name}: ${what} from a file looks the same`, 20);
  };
  const plots = async () => (await saved.page.locator(".plot canvas").count()) === 6;
  await until(plots, "its curves are there");
  for (const index of [0, Math.floor(frames.length / 2), frames.length - 1]) {
    for (const page of pages) {
      await page.locator("#frame").fill(String(index));
      await until(async () => (await step(page)) === frames[index], `frame ${index} is shown`);
    }
    await same(`frame ${index}`);
  }
  for (const page of pages) {
    await page.selectOption("#colour", colour);
    await until(() => visible(page, "legend"), "the legend is there");
    await page.selectOption("#scaling", "frame");
  }
  await same(colour);
  // their length is relative to the frames whose forces a page has seen, their number is not
  for (const page of pages) await page.check("#arrows");
  const arrows = () => Promise.all(pages.map((page) => page.evaluate(() => Number(document.getElementById("canvas").dataset.arrows))));
  await until(async () => new Set(await arrows()).size === 1 && (await arrows())[0] > 0, `${name}: arrows`);
  check((await visible(saved.page, "failure")) === Boolean(fails), "a failure is told, and only that");
  await saved.page.screenshot({ path: join(shots, `${name}-file.png`) });
  const problems = [...served.problems, ...saved.problems];
  check(problems.length === 0, problems.join("\n"));
  check((await interrupt(child)) === 0, "the server ends");
  await saved.page.waitForTimeout(1000);
  check(!(await saved.page.locator("#notice").textContent()), "the file misses no server");
  for (const page of pages) await page.close();
  console.log(`ok  ${name}, as a file`);
}

/** A run is watched until its end, which may be a failure. */
async function whileRunning({ name, scene, steps, fails }) {
  const args = ["run", scene, "-o", join(work, `${name}-live`), "--view", "--listen", ":0"];
  const { child, url } = await serve(steps ? [...args, "--steps", String(steps)] : args);
  const { page, problems } = await open(url);
  const stage = (key) => page.evaluate((key) => document.getElementById("stage").dataset[key], key);
  await until(async () => (await step(page)) >= 0, "a frame is shown");
  await page.screenshot({ path: join(shots, `${name}-live.png`) });
  check((await look(page)).colours > 20, "the picture is not blank");
  await until(async () => (await stage("live")) === "false", "the run ends", 300);
  // a short run may be over before the page is there, which then begins with the first frame
  if (!fails) await until(async () => Number(await stage("frames")) === steps + 1, "all frames are there");
  await page.screenshot({ path: join(shots, `${name}-ended.png`) });
  check((await look(page)).colours > 20, "nor is the last one");
  check(problems.length === 0, problems.join("\n"));
  await page.close();
  check(((await interrupt(child)) === 0) === !fails, "the exit code is that of the run");
  console.log(`ok  ${name}, live`);
}

async function live() {
  const folder = join(work, "live");
  // long enough to be still under way when a slow browser has the page
  const text = THIN.replace("end = 0.4", "end = 6.0").replaceAll("[12, 12]", "[24, 24]");
  const { child, url, said } = await serve(["run", scene("live", text), "-o", folder, "--view", "--listen", ":0"]);
  const { page, problems } = await open(url);
  const stage = (key) => page.evaluate((key) => document.getElementById("stage").dataset[key], key);
  await until(async () => (await stage("live")) === "true", "the run goes on");
  const before = Number(await stage("frames"));
  await until(async () => Number(await stage("frames")) > before + 3, "frames are added");
  await until(async () => (await step(page)) > 3, "the newest one is shown");
  await page.selectOption("#colour", "velocity");
  await until(() => visible(page, "legend"), "coloured while it runs");
  await page.screenshot({ path: join(shots, "live.png") });
  check((await look(page)).colours > 20, "the picture is not blank");
  await until(async () => (await stage("live")) === "false", "the run ends", 300);
  await until(async () => (await step(page)) === 600, "the last frame is shown");
  await page.screenshot({ path: join(shots, "live-ended.png") });
  check(said().includes("results in"), said());
  check(problems.length === 0, problems.join("\n"));
  check((await interrupt(child)) === 0, "and the program ends well");
  await until(async () => (await page.locator("#notice").textContent()).includes("does not answer"), "the page tells");
  await page.close();
  console.log("ok  live");
}

try {
  const wanted = process.argv.slice(2);
  for (const run of RUNS) {
    if (wanted.length > 0 && !wanted.includes(run.name)) continue;
    await afterTheRun(run);
    await asFile(run);
    await whileRunning(run);
  }
  if (wanted.length === 0 || wanted.includes("live")) await live();
  console.log(`${checks} checks passed; pictures in ${shots}`);
} finally {
  await browser.close();
  for (const child of processes) child.kill();
  if (shots !== work) rmSync(work, { recursive: true });
}
