"""The look of the page, and the little it can do; without either it is complete and every part unfolds."""

from __future__ import annotations

STYLE = """
:root { color-scheme: light; --line: #c8c8c8; --faint: #f5f5f3; --ink: #1a1a1a; --soft: #595959; }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.2rem 5rem; max-width: 54rem; color: var(--ink); background: #fff;
  font: 1.02rem/1.5 "STIX Two Text", "Iowan Old Style", "Palatino Linotype", Palatino, Georgia, serif; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .3rem; font-weight: 600; }
h2 { font-size: 1.3rem; margin: 2.6rem 0 .7rem; padding-bottom: .2rem; border-bottom: 1px solid var(--line);
  font-weight: 600; }
h3 { font-size: 1.05rem; margin: 0; font-weight: 600; display: inline; }
.sub, .count, .kind, .note, figcaption { color: var(--soft); }
a { color: #14508c; text-decoration-thickness: 1px; text-underline-offset: .15em; }
nav ul { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; list-style: none; padding: 0; }
pre, code { font: .88rem/1.5 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
pre { background: var(--faint); border: 1px solid var(--line); padding: .8rem 1rem; overflow-x: auto; }
code.latex { white-space: pre-wrap; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .95rem; margin: .4rem 0 1rem; }
caption { text-align: left; color: var(--soft); padding-bottom: .3rem; }
th { text-align: left; font-weight: 600; border-bottom: 1px solid var(--ink); }
th, td { padding: .28rem .8rem .28rem 0; vertical-align: baseline; }
tbody tr + tr td { border-top: 1px solid #e6e6e6; }
td.number { font-variant-numeric: tabular-nums; white-space: nowrap; }
td.long { overflow-wrap: anywhere; white-space: normal; }
td.symbol { white-space: nowrap; }
.FAILED { font-weight: 700; color: #9b1c1c; }
.undecided { font-style: italic; }
figure { margin: 1rem 0 1.6rem; }
figure svg { max-width: 100%; height: auto; display: block; }
figcaption { font-size: .93rem; margin-top: .4rem; }
.refused { border-left: 3px solid var(--ink); background: var(--faint); padding: .5rem .9rem; }
summary { cursor: pointer; }
details.part { border: 1px solid var(--line); margin: .5rem 0; padding: .5rem .8rem; }
details.part > summary .count { float: right; font-size: .9rem; }
details.part[open] > summary { padding-bottom: .4rem; border-bottom: 1px solid var(--line); }
details.step { margin: .3rem 0 .3rem .2rem; }
details.step > p { margin: .2rem 0 .2rem 1.1rem; }
details.step > summary .number { font-variant-numeric: tabular-nums; }
.kind { font-size: .82rem; border: 1px solid var(--line); border-radius: 3px; padding: 0 .35rem; }
.equation { overflow-x: auto; overflow-y: hidden; padding: .3rem 0 .5rem 1.1rem; }
math { font-size: 1.08em; font-family: "STIX Two Math", "Latin Modern Math", "Cambria Math", "STIXGeneral", math; }
mtable.aligned { margin: 0 auto; }
mtable.aligned mtd { text-align: left; padding: .25em 0; }
mtable.aligned mtd:first-child { text-align: right; }
mtable.cases mtd { text-align: left; padding: .1em .6em .1em 0; }
button { font: inherit; font-size: .9rem; padding: .1rem .6rem; border: 1px solid var(--line); background: #fff;
  border-radius: 3px; cursor: pointer; }
#references p { margin: .4rem 0; }
@media print { body { max-width: none; font-size: 10pt; padding: 0; } button, nav { display: none; }
  details.part { border: 0; padding: 0; } .equation { overflow: visible; } a { color: inherit; } }
"""

SCRIPT = """
const all = (open) => document.querySelectorAll("#derivation details").forEach((one) => { one.open = open; });
document.querySelectorAll("button[data-open]").forEach((button) => {
  button.hidden = false;
  button.addEventListener("click", () => all(button.dataset.open === "true"));
});
const unfold = () => {
  let one = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const place = one;
  for (; one; one = one.parentElement) { if (one.tagName === "DETAILS") one.open = true; }
  if (place) place.scrollIntoView();
};
addEventListener("hashchange", unfold);
addEventListener("DOMContentLoaded", () => { if (location.hash) unfold(); });
addEventListener("beforeprint", () => all(true));
"""
