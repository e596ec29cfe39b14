/**
 * The look of the devtools. Colours follow `color-scheme`, which is the page's unless `theme` is
 * given.
 */
export const STYLES = `
:host {
  --ground: light-dark(#f7f6f2, #131816);
  --surface: light-dark(#fffefb, #191f1d);
  --raised: light-dark(#fff, #212826);
  --sunken: light-dark(#efede6, #0e1211);
  --line: light-dark(#dedad0, #2c3532);
  --line-strong: light-dark(#8d8a80, #6d7973);
  --ink: light-dark(#16201c, #e9efec);
  --ink-soft: light-dark(#525c57, #a9b5af);
  --accent: light-dark(#17604c, #7cd3b4);
  --accent-soft: light-dark(#dcece5, #1d3a31);
  --on-accent: light-dark(#fff, #08211a);
  --amber: light-dark(#85490a, #f0b45f);
  --amber-soft: light-dark(#f8e8cf, #3b2b12);
  --danger: light-dark(#a52a22, #ff9c92);
  --mono: ui-monospace, "SF Mono", "JetBrains Mono", Menlo, Consolas, monospace;
  display: block;
  color: var(--ink);
  font: 13px/1.45 system-ui, sans-serif;
  text-align: start;
  letter-spacing: normal;
}
:host([hidden]) { display: none }
:host([theme="light"]) { color-scheme: light }
:host([theme="dark"]) { color-scheme: dark }
:host([theme="system"]) { color-scheme: light dark }
:host([position]) { position: fixed; z-index: 2147483000 }
:host([position="bottom"]) { inset: auto 0 0 0 }
:host([position="right"]) { inset: 0 0 0 auto; width: min(var(--size, 480px), 100vw) }
:host([position][collapsed]) { inset: auto 12px calc(12px + var(--place, 0) * 44px) auto; width: auto }
*, ::before, ::after { box-sizing: border-box }
.shell {
  container-type: inline-size;
  display: flex;
  flex-direction: column;
  height: var(--height, 480px);
  min-height: 200px;
  overflow: hidden;
  background: var(--ground);
  border: 1px solid var(--line);
  border-radius: 8px;
}
:host([position]) .shell { border-radius: 0; border-width: 1px 0 0; box-shadow: 0 -4px 24px #0003 }
:host([position="bottom"]) .shell { height: min(var(--size, 44vh), 92vh) }
:host([position="right"]) .shell { height: 100vh; border-width: 0 0 0 1px }
:host([collapsed]) .shell, :host(:not([collapsed])) .launcher { display: none }
.launcher { max-width: calc(100vw - 24px); overflow: hidden; text-overflow: ellipsis; white-space: nowrap; border-radius: 999px; padding: 7px 14px; box-shadow: 0 2px 12px #0004 }
.grip { flex: none; height: 7px; margin-bottom: -3px; cursor: row-resize; touch-action: none; position: relative; z-index: 1 }
:host(:not([position="bottom"])) .grip { display: none }
.grip::after { content: ""; position: absolute; inset: 2px calc(50% - 18px) auto; height: 3px; border-radius: 2px; background: var(--line-strong) }
.head { display: flex; align-items: stretch; flex: none; background: var(--surface); border-bottom: 1px solid var(--line) }
.head > b { padding: 8px 12px; white-space: nowrap; font-weight: 650 }
.tabs { display: flex; overflow-x: auto; flex: 1; scrollbar-width: none }
.tabs button { border: 0; border-radius: 0; background: none; padding: 8px 10px; color: var(--ink-soft); white-space: nowrap; border-bottom: 2px solid transparent }
.tabs button[aria-selected="true"] { color: var(--ink); border-color: var(--accent); font-weight: 600 }
.chip { align-self: center; margin: 0 8px; padding: 1px 8px; border-radius: 999px; background: var(--accent-soft); color: var(--accent); white-space: nowrap; font-size: 12px; font-variant-numeric: tabular-nums }
.chip.waiting { background: var(--amber-soft); color: var(--amber) }
.chip.failed { background: none; color: var(--danger); outline: 1px solid }
.head > button { border: 0; background: none; padding: 4px 12px; font-size: 15px }
.view { flex: 1; min-height: 0; display: flex; flex-direction: column }
.view > * { flex: 1; min-height: 0 }
.split { display: flex }
.list { flex: none; width: 190px; overflow-y: auto; padding: 6px; border-inline-end: 1px solid var(--line); background: var(--surface) }
.item { display: block; width: 100%; text-align: start; border-color: transparent; background: none; padding: 4px 8px }
.item span { display: flex; flex-direction: column; min-width: 0 }
.item b { font-weight: 550; overflow: hidden; text-overflow: ellipsis }
.item small { color: var(--ink-soft); font-size: 11.5px }
.item[aria-current] { background: var(--accent-soft); border-color: transparent }
.content { flex: 1; min-width: 0; display: flex }
.pane { flex: 1; min-width: 0; display: flex; flex-direction: column; gap: 8px; padding: 10px 12px; overflow: auto }
.query, .bar { display: flex; flex-wrap: wrap; gap: 8px; align-items: end; flex: none }
.bar { align-items: center; justify-content: space-between }
td .bar { flex-wrap: nowrap; justify-content: start; gap: 4px }
.editor .bar:last-child { justify-content: start }
.field { display: flex; flex-direction: column; gap: 2px; font-size: 12px; color: var(--ink-soft) }
.field.wide { flex: 1 1 220px }
.results { flex: 1 0 auto; min-height: 120px; max-height: 100%; display: flex; flex-direction: column }
.scroll { overflow: auto; border: 1px solid var(--line); border-radius: 6px; background: var(--surface); flex: 0 1 auto; min-height: 0 }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums }
th, td { padding: 4px 10px; text-align: start; white-space: nowrap; border-bottom: 1px solid var(--line); max-width: 380px; overflow: hidden; text-overflow: ellipsis }
tr:last-child td { border-bottom: 0 }
th { position: sticky; top: 0; background: var(--sunken); font-weight: 600; font-size: 12px; color: var(--ink-soft); z-index: 1 }
td { font-size: 12.5px }
tbody tr:hover td { background: var(--raised) }
code, textarea, input[type="text"], .id, .facts dd { font-family: var(--mono); font-size: 12px }
button, input, select, textarea { font: inherit; color: inherit; border: 1px solid var(--line-strong); border-radius: 5px; background: var(--raised); padding: 4px 10px; margin: 0; min-height: 28px }
button { cursor: pointer; font-weight: 500 }
button:hover:not(:disabled) { background: var(--sunken) }
button:disabled { color: var(--ink-soft); border-color: var(--line); cursor: default }
button.primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent) }
button.primary:hover { background: var(--accent); filter: brightness(1.1) }
button.danger { color: var(--danger); border-color: currentcolor }
button.id { border: 0; background: none; padding: 0; min-height: 24px; color: var(--accent); text-decoration: underline; text-underline-offset: 2px }
td button:not(.id) { min-height: 24px; padding: 1px 8px }
input, select, textarea { cursor: auto; width: 100%; min-width: 0 }
input::placeholder { color: var(--ink-soft); opacity: 1 }
.field select { width: auto }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px }
.scroll:focus-visible, .tabs button:focus-visible, .item:focus-visible { outline-offset: -2px }
.pages { display: flex; gap: 4px }
.summary, .advice, .problem, .soft, .empty p, figure, ul, dl, dd { margin: 0 }
.summary { color: var(--ink-soft); font-variant-numeric: tabular-nums }
.problem { color: var(--danger); font-weight: 550; overflow-wrap: anywhere }
.problem:empty, .advice:empty { display: none }
.advice { display: flex; flex-wrap: wrap; gap: 2px 12px; color: var(--ink-soft) }
.advice strong, .advice-list li { color: var(--amber); background: var(--amber-soft); border-radius: 5px; padding: 1px 8px; font-weight: 550 }
.advice-list { list-style: none; padding: 0; display: flex; flex-direction: column; gap: 4px; flex: none }
.advice-list li { padding: 4px 10px }
.empty { padding: 16px; display: flex; flex-direction: column; gap: 10px; align-items: start; max-width: 60ch; color: var(--ink-soft) }
.editor { display: flex; flex-direction: column; gap: 8px; flex: 1 }
.editor b { overflow-wrap: anywhere }
textarea { font-family: var(--mono); font-size: 12px; flex: 1 1 180px; min-height: 140px; resize: vertical; line-height: 1.5; tab-size: 2; white-space: pre; overflow: auto }
textarea[aria-invalid] { border-color: var(--danger) }
.soft { color: var(--ink-soft); font-size: 12px }
.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(200px, 1fr)); gap: 6px 16px; flex: none }
.facts dt { color: var(--ink-soft); font-size: 12px }
.facts dd { overflow-wrap: anywhere }
.state.error, .state.failed, .kind.error { color: var(--danger); font-weight: 600 }
.state.ready, .state.open, .kind.save { color: var(--accent); font-weight: 600 }
.kind.slow_query, .kind.restore { color: var(--amber); font-weight: 600 }
.plot { flex: none; padding: 6px 10px; border: 1px solid var(--line); border-radius: 6px; background: var(--surface) }
.plot svg { display: block; width: 100%; height: 56px }
.plot path { fill: none; stroke: var(--amber); stroke-width: 1.5; vector-effect: non-scaling-stroke }
.plot line { stroke: var(--accent); stroke-width: 1; opacity: .55; vector-effect: non-scaling-stroke }
.plot line.error { stroke: var(--danger); opacity: 1 }
figcaption { display: flex; justify-content: space-between; font-size: 11.5px; color: var(--ink-soft) }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
@container (max-width: 620px) {
  .head { flex-wrap: wrap }
  .head > b { flex: 1; order: -3; overflow: hidden; text-overflow: ellipsis; padding-bottom: 2px }
  .chip { order: -2 }
  .head > button { order: -1 }
  .tabs { flex: 1 0 100% }
  .split { flex-direction: column }
  .list { width: auto; display: flex; overflow: auto; border-inline-end: 0; border-bottom: 1px solid var(--line); padding: 4px 6px }
  .item { width: auto; flex: none }
  .content { min-height: 0; flex: 1 }
  .pane { padding: 8px }
  .field { flex: 1 1 130px }
  .field select { width: 100% }
}
@media (prefers-reduced-motion: no-preference) { button { transition: background 120ms ease-out } }
`;
