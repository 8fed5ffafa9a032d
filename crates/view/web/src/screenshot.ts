// The picture with its legend as a PNG.

import { part, select } from "./dom";
import { MAPS } from "./colour";
import { Stage } from "./stage";

/** Draws the picture, the legend if there is one, and a line of text. */
export function picture(stage: Stage, caption: string): HTMLCanvasElement {
  stage.drawNow();
  const { canvas } = stage;
  const made = document.createElement("canvas");
  [made.width, made.height] = [canvas.width, canvas.height];
  const context = made.getContext("2d");
  if (!context) throw new Error("the browser refuses to draw");
  context.drawImage(canvas, 0, 0);
  const scale = canvas.width / Math.max(canvas.clientWidth, 1);
  context.scale(scale, scale);
  context.font = "13px system-ui, sans-serif";
  context.fillStyle = "#22262b";
  context.textBaseline = "bottom";
  context.fillText(caption, 12, canvas.clientHeight - 10);
  if (!part("legend").hidden) {
    const map = MAPS[select("map").value];
    context.textBaseline = "top";
    context.fillText(part("legend-title").textContent ?? "", 12, 12);
    const bar = context.createLinearGradient(12, 0, 212, 0);
    for (let k = 0; k <= 16; k++) bar.addColorStop(k / 16, map(k / 16));
    context.fillStyle = bar;
    context.fillRect(12, 32, 200, 12);
    context.fillStyle = "#22262b";
    const ticks = Array.from(part("legend-ticks").children, (t) => t.textContent ?? "");
    (["left", "center", "right"] as const).forEach((align, k) => {
      context.textAlign = align;
      context.fillText(ticks[k] ?? "", 12 + 100 * k, 48);
    });
  }
  return made;
}

export function save(made: HTMLCanvasElement, name: string): void {
  made.toBlob((blob) => {
    if (!blob) return;
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }, "image/png");
}

