import { figure } from '../../shared/print-table.mjs';
import { isCairn } from '../contender.mjs';

/**
 * @typedef {import('./ranking.mjs').Ranking} Ranking
 * @typedef {import('./ranking.mjs').Entry} Entry
 */

/** The plots of one size, and the figures each shows. */
const PLOTS = [
  {
    name: 'writing',
    title: 'Writing',
    figures: [
      'bulk-insert/durable',
      'bulk-insert/longest block',
      'inserts/one after another, durable',
      'inserts/at once, durable',
      'updates/durable',
      'deletes/durable',
    ],
  },
  {
    name: 'reading',
    title: 'Reading',
    figures: [
      'gets/one after another',
      'gets/at once',
      'equality/ms',
      'range/ms',
      'scan/ms',
      'sort-limit/ms',
      'count/ms',
      'live-query/µs',
    ],
  },
  {
    name: 'opening',
    title: 'Opening, memory, size',
    figures: [
      'open/durable',
      'first-answer/ms',
      'everything/ms',
      'heap/MB',
      'disk/MB',
      'bundle/JavaScript',
    ],
  },
];

const COLUMNS = 2;
const PANEL = { width: 480, labels: 190, values: 64, bar: 11, gap: 5, head: 44, foot: 18 };

const STYLE = `
  text { font: 11px system-ui, sans-serif; fill: #1f2328; }
  .title { font-weight: 600; font-size: 13px; }
  .what { fill: #59636e; }
  .other { fill: #8c959f; } .memory { fill: #d0d7de; } .cairn { fill: #0969da; }
  .limit { fill: none; stroke: #8c959f; stroke-dasharray: 3 2; }
  .spread { stroke: #1f2328; stroke-width: 1; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; } .what { fill: #9198a1; }
    .other { fill: #6e7681; } .memory { fill: #3d444d; } .cairn { fill: #4493f8; }
    .limit { stroke: #9198a1; } .spread { stroke: #e6edf3; }
  }`;

/**
 * @param {readonly Ranking[]} rankings
 * @param {number} size
 * @returns {{ file: string, title: string, svg: string }[]}
 */
export function drawPlots(rankings, size) {
  return PLOTS.flatMap(({ name, title, figures }) => {
    const shown = figures.flatMap((wanted) =>
      rankings.filter(({ workload, metric }) => `${workload}/${metric}` === wanted),
    );
    if (shown.length === 0) return [];
    const full = `${title}, ${size.toLocaleString('en-US')} documents`;
    return [{ file: `${size}-${name}.svg`, title: full, svg: drawPlot(full, shown) }];
  });
}

/** @param {string} title @param {readonly Ranking[]} rankings */
function drawPlot(title, rankings) {
  const heights = Array.from({ length: COLUMNS }, () => 0);
  const panels = rankings.map((ranking) => {
    const column = heights.indexOf(Math.min(...heights));
    const top = /** @type {number} */ (heights[column]);
    heights[column] = top + panelHeight(ranking);
    return `<g transform="translate(${column * PANEL.width} ${top})">${drawPanel(ranking)}</g>`;
  });
  const width = COLUMNS * PANEL.width;
  const height = Math.max(...heights) + LEGEND_HEIGHT;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${toText(title)}</title>`,
    `<style>${STYLE}\n</style>`,
    ...panels,
    `<g transform="translate(0 ${height - LEGEND_HEIGHT})">${drawLegend()}</g>`,
    '</svg>\n',
  ].join('\n');
}

const LEGEND_HEIGHT = 24;
const LEGEND = {
  cairn: 'Cairn',
  other: 'persistent',
  memory: 'not persistent',
  limit: 'by hand',
};

function drawLegend() {
  return Object.entries(LEGEND)
    .map(([kind, text], index) => {
      const x = index * 130;
      return `<rect class="${kind}" x="${x}" y="4" width="22" height="${PANEL.bar}"/><text x="${x + 28}" y="13">${text}</text>`;
    })
    .join('');
}

/** @param {Ranking} ranking */
const panelHeight = ({ entries }) =>
  PANEL.head + entries.length * (PANEL.bar + PANEL.gap) + PANEL.foot;

/**
 * Bars of medians on a logarithmic scale, with a line from minimum to maximum. @param {Ranking}
 * ranking
 */
function drawPanel({ title, metric, unit, entries }) {
  const smallest = Math.min(...entries.map(({ min }) => min).filter((value) => value > 0));
  const floor = Math.log10(smallest) - 0.3;
  const span = Math.log10(Math.max(...entries.map(({ max }) => max), smallest * 2)) - floor;
  const room = PANEL.width - PANEL.labels - PANEL.values;
  const at = (/** @type {number} */ value) =>
    value <= 0 ? 0 : Math.max(0, ((Math.log10(value) - floor) / span) * room);
  const what = metric === unit ? unit : `${metric}, ${unit}`;
  return [
    `<text class="title" x="0" y="16">${toText(title)}</text>`,
    `<text class="what" x="0" y="32">${toText(what)}; logarithmic</text>`,
    ...entries.map((entry, index) => drawBar(entry, index, at)),
  ].join('\n');
}

/** @param {Entry} entry @param {number} index @param {(value: number) => number} at */
function drawBar({ contender, median, min, max }, index, at) {
  const { labels, bar, gap, head } = PANEL;
  const y = head + index * (bar + gap);
  const middle = y + bar / 2;
  const short = (/** @type {number} */ value) => value.toFixed(1);
  return [
    `<text x="${labels - 6}" y="${y + 9}" text-anchor="end">${toText(contender.title)}</text>`,
    `<rect class="${kindOf(contender)}" x="${labels}" y="${y}" width="${short(Math.max(1, at(median)))}" height="${bar}"/>`,
    `<line class="spread" x1="${short(labels + at(min))}" x2="${short(labels + at(max))}" y1="${middle}" y2="${middle}"/>`,
    `<text x="${short(labels + at(max) + 5)}" y="${y + 9}">${figure(median)}</text>`,
  ].join('');
}

/** @param {Entry['contender']} contender */
function kindOf(contender) {
  if (contender.kind === 'limit') return 'limit';
  if (isCairn(contender)) return 'cairn';
  return contender.keeps ? 'other' : 'memory';
}

/** @param {string} text */
const toText = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
