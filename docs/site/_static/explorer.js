// The explorer page: curves over a grid of numbers that was solved before (explorer_grid.js); nothing is loaded.
"use strict";

const SLIDERS = [
  ["step.samples", "samples of the step, n₀/d"],
  ["network.width", "width, p/d"],
  ["fit.ridge", "ridge, λ"],
  ["step.learning_rate", "learning rate, η/d"],
];
const KEYS = Object.keys(GRID.axes);
const FRAME = { left: 62, right: 16, top: 14, bottom: 44, width: 640, height: 380 };
// of the vertical axis: the first one that holds both curves
const SCALES = [{ top: 1.4, step: 0.2 }, { top: 3, step: 0.5 }, { top: 5, step: 1 }, { top: 8, step: 2 }, { top: 12, step: 2 }];
let scale = SCALES[0];

function curve(places) {
  // errors along the samples of the fit, the last axis
  let start = 0;
  for (const key of KEYS.slice(0, -1)) start = start * GRID.axes[key].length + places[key];
  const length = GRID.axes["fit.samples"].length;
  return GRID.errors.slice(start * length, (start + 1) * length).map((error) => error * GRID.unit);
}

function across(x) {
  const axis = GRID.axes["fit.samples"];
  const share = Math.log(x / axis[0]) / Math.log(axis[axis.length - 1] / axis[0]);
  return FRAME.left + share * (FRAME.width - FRAME.left - FRAME.right);
}

function down(error) {
  return FRAME.top + (1 - error / scale.top) * (FRAME.height - FRAME.top - FRAME.bottom);
}

function element(name, attributes, text) {
  const found = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) found.setAttribute(key, value);
  if (text !== undefined) found.textContent = text;
  return found;
}

function line(errors, colour, dashes, id) {
  const points = GRID.axes["fit.samples"].map((x, place) => `${across(x).toFixed(1)},${down(errors[place]).toFixed(1)}`);
  const style = { points: points.join(" "), fill: "none", stroke: colour, "stroke-width": 2, "stroke-dasharray": dashes };
  return element("polyline", { ...style, id: id, "clip-path": "url(#explorer-frame)" });
}

function axes(svg) {
  const right = FRAME.width - FRAME.right, bottom = FRAME.height - FRAME.bottom;
  const box = { x: FRAME.left, y: FRAME.top, width: right - FRAME.left, height: bottom - FRAME.top };
  const clip = element("clipPath", { id: "explorer-frame" });
  clip.append(element("rect", box));
  svg.append(clip, element("rect", { ...box, fill: "none", stroke: "currentColor" }));
  const small = { fill: "currentColor", "font-size": 13 };
  for (const x of [0.1, 0.2, 0.5, 1, 2, 5, 10]) {
    svg.append(element("line", { x1: across(x), x2: across(x), y1: bottom, y2: bottom - 5, stroke: "currentColor" }));
    svg.append(element("text", { ...small, x: across(x), y: bottom + 17, "text-anchor": "middle" }, String(x)));
  }
  for (let error = 0; error < scale.top + 1e-9; error += scale.step) {
    svg.append(element("line", { x1: FRAME.left, x2: FRAME.left + 5, y1: down(error), y2: down(error), stroke: "currentColor" }));
    svg.append(element("text", { ...small, x: FRAME.left - 7, y: down(error) + 4, "text-anchor": "end" }, error.toFixed(1)));
  }
  const middle = (FRAME.left + right) / 2;
  svg.append(element("text", { ...small, x: middle, y: FRAME.height - 6, "text-anchor": "middle" }, "samples of the fit, n/d"));
  const turned = `translate(16 ${(FRAME.top + bottom) / 2}) rotate(-90)`;
  svg.append(element("text", { ...small, transform: turned, "text-anchor": "middle" }, "test error"));
}

function draw(svg, places) {
  const without = curve({ ...places, "step.learning_rate": 0 }), errors = curve(places);
  const highest = Math.max(...without, ...errors);
  scale = SCALES.find((one) => one.top >= highest) ?? SCALES[SCALES.length - 1];
  svg.replaceChildren();
  axes(svg);
  svg.append(line(GRID.axes["fit.samples"].map(() => GRID.linear), "#888888", "2 4", "explorer-linear"));
  svg.append(line(without, "#888888", "8 4", "explorer-without"));
  svg.append(line(errors, "#0072b2", "none", "explorer-curve"));
}

function begin() {
  const root = document.getElementById("explorer-panel");
  const places = { "step.samples": 2, "network.width": 1, "fit.ridge": 2, "step.learning_rate": 2 };
  const svg = element("svg", { viewBox: `0 0 ${FRAME.width} ${FRAME.height}`, role: "img", "aria-label": "test error" });
  for (const [key, words] of SLIDERS) {
    const label = document.createElement("label");
    const slider = document.createElement("input");
    const value = document.createElement("output");
    Object.assign(slider, { type: "range", min: 0, max: GRID.axes[key].length - 1, step: 1, value: places[key], name: key });
    const say = () => {
      const number = GRID.axes[key][places[key]];
      value.textContent = number === 0 ? "no step" : String(number);
    };
    slider.addEventListener("input", () => {
      places[key] = Number(slider.value);
      say();
      draw(svg, places);
    });
    say();
    label.append(words, slider, value);
    root.append(label);
  }
  root.append(svg);
  draw(svg, places);
}

document.addEventListener("DOMContentLoaded", begin);
