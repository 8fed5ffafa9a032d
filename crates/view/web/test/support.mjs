// What the tests in the browser share: the program, the browser, waiting.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

export const repository = new URL("../../../../", import.meta.url).pathname;
export const standoff = process.env.STANDOFF ?? join(repository, "target/release/standoff");
const browserPath = process.env.CHROMIUM ?? "/usr/bin/chromium";
export const work = mkdtempSync(join(tmpdir(), "standoff-viewer-"));
for (const program of [standoff, browserPath]) assert(existsSync(program), `${program} is missing`);

export let checks = 0;
export function check(condition, what) {
  assert(condition, what);
  checks++;
}

export async function until(condition, what, seconds = 60) {
  const end = Date.now() + 1000 * seconds;
  for (;;) {
    const value = await condition();
    if (value) {
      checks++;
      return value;
    }
    assert(Date.now() < end, `not within ${seconds} s: ${what}`);
    await new Promise((wake) => setTimeout(wake, 50));
  }
}

export const processes = [];

/** Starts the program and returns the address of its viewer. */
export async function serve(args) {
  const child = spawn(standoff, args, { stdio: ["ignore", "pipe", "inherit"] });
  processes.push(child);
  let said = "";
  const url = new Promise((found, failed) => {
    child.stdout.on("data", (data) => {
      said += data;
      const match = said.match(/^viewer: (http:\S+)$/m);
      if (match) found(match[1]);
    });
    child.on("exit", (code) => failed(new Error(`standoff ${args.join(" ")} ended with ${code}`)));
  });
  return { child, url: await url, said: () => said };
}

/** Ends a program as Ctrl-C does, and returns its exit code. */
export async function interrupt(child) {
  const ended = new Promise((done) => child.on("exit", done));
  child.kill("SIGINT");
  return ended;
}

export const browser = await chromium.launch({
  executablePath: browserPath,
  args: [
    "--no-sandbox",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
  ],
});

/** Opens a page and collects what goes wrong in it. */
export async function open(url) {
  const page = await browser.newPage({ viewport: { width: 1200, height: 800 } });
  const problems = [];
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("console", (message) => {
    // drivers complain about their own speed
    if (message.type() === "error" && !message.text().includes("404")) problems.push(message.text());
  });
  page.on("request", (request) => {
    const own = request.url().startsWith(url) || /^(data|blob):/.test(request.url());
    if (!own) problems.push(`foreign request ${request.url()}`);
  });
  if (process.env.PAGE === "dist") {
    // the page as it was built last, instead of the one in the program
    const file = (route) => new URL(`../dist/${new URL(route.request().url()).pathname.slice(1) || "index.html"}`, import.meta.url);
    await page.route(/\/(main\.(js|css))?$/, (route) => route.fulfill({ path: file(route).pathname }));
  }
  await page.goto(url);
  return { page, problems };
}

/** The arrays of an answer of the server. */
export async function container(url) {
  const buffer = await (await fetch(url)).arrayBuffer();
  const length = new DataView(buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  return Object.fromEntries(
    head.arrays.map((a) => [
      a.name,
      new (a.type === "f32" ? Float32Array : Uint32Array)(buffer, 4 + length + a.offset, a.length),
    ]),
  );
}
