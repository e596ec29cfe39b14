import { peers } from '../../page/peers.mjs';
import { machineLine } from '../../shared/machine.mjs';
import { figure } from '../../shared/print-table.mjs';
import { isCairn } from '../contender.mjs';

/**
 * @typedef {import('../results.mjs').Results} Results
 * @typedef {import('./ranking.mjs').Ranking} Ranking
 * @typedef {import('./ranking.mjs').Entry} Entry
 */

/**
 * @param {readonly (readonly string[])[]} rows the first is the head; the first column is of text
 */
function table([head = [], ...rows]) {
  const line = (/** @type {readonly string[]} */ cells) => `| ${cells.join(' | ')} |`;
  const rule = head.map((_, column) => (column === 0 ? '---' : '--:'));
  return [line(head), line(rule), ...rows.map(line)].join('\n');
}

const count = (/** @type {number} */ number) => number.toLocaleString('en-US');
const times = (/** @type {number | undefined} */ ratio) =>
  ratio === undefined ? '' : `${figure(ratio)}×`;

/**
 * The Markdown page of one size.
 *
 * @param {Results} results
 * @param {number} size
 * @param {readonly Ranking[]} rankings
 * @param {readonly { file: string, title: string }[]} plots
 */
export function writePage(results, size, rankings, plots) {
  const { machine, at, commit, seed, rounds, bytesADocument } = results;
  return `${[
    `# ${count(size)} documents`,
    `Written by \`npm run bench\`; what the rows mean and how to dispute them: [Benchmarks](../benchmarks.md). Raw figures: [${size}.json](${size}.json).`,
    `${machineLine(machine)}. ${at.slice(0, 10)}, Cairn at ${commit}, ${rounds} rounds, seed ${seed}, documents of ${bytesADocument} bytes as JSON.`,
    ...absent(results),
    ...stopped(results, size),
    ...measuredOnce(results, size),
    '## In short',
    'Medians; smaller is better. The column "Cairn" shows its best client and cache setting in that row. The ratio compares it with the best other persistent database; **bold** where Cairn loses. Many of them hold all documents in memory, so the table also shows the best that does not, and the best without persistence.',
    summary(rankings),
    ...plots.map(({ file, title }) => `![${title}](${file})`),
    '## Databases, and what their promises mean',
    promises(results),
    ...sections(rankings),
  ].join('\n\n')}\n`;
}

/** @param {Results} results */
function absent({ contenders }) {
  const missing = peers.filter(({ name }) => !contenders.some((it) => it.name === name));
  if (missing.length === 0) return [];
  return [`Not in this run: ${missing.map(({ title }) => title).join('; ')}.`];
}

/** @param {Results} results @param {number} size */
function stopped({ failures, contenders }, size) {
  const own = failures.filter((it) => it.size === size);
  if (own.length === 0) return [];
  const title = (/** @type {string} */ name) =>
    contenders.find((it) => it.name === name)?.title ?? name;
  const lines = own.map(
    ({ contender, reason }) => `- ${title(contender)}: ${reason.split('\n')[0]}`,
  );
  return [`Stopped before the end:\n\n${lines.join('\n')}`];
}

/** @param {Results} results @param {number} size */
function measuredOnce({ long = [], contenders }, size) {
  const own = long.filter((it) => it.size === size);
  if (own.length === 0) return [];
  const each = own.map(({ contender, seconds }) => {
    const title = contenders.find((it) => it.name === contender)?.title ?? contender;
    return `${title} (${seconds} s)`;
  });
  return [`In one round only, as a round takes long: ${each.join('; ')}.`];
}

/** @param {readonly Ranking[]} rankings */
function summary(rankings) {
  const cell = (/** @type {Entry | undefined} */ entry) =>
    entry ? `${figure(entry.median)} ${entry.contender.title}` : '';
  const rows = rankings.map(({ workload, metric, unit, entries, best, bestFromDisk }) => {
    const own = entries.find(({ contender }) => isCairn(contender));
    const keepsNothing = entries.find(
      ({ contender }) => contender.kind === 'database' && !contender.keeps,
    );
    const byHand = entries.find(({ contender }) => contender.kind === 'limit');
    const ratio = times(own?.toBest);
    return [
      metric === unit ? `${workload}, ${unit}` : `${workload}: ${metric}, ${unit}`,
      cell(own),
      own?.toBest !== undefined && own.toBest > 1 ? `**${ratio}**` : ratio,
      cell(best),
      cell(bestFromDisk),
      cell(keepsNothing),
      cell(byHand),
    ];
  });
  return table([
    [
      '',
      'Cairn',
      '/ best',
      'best',
      'best, not all in memory',
      'best without persistence',
      'by hand',
    ],
    ...rows,
  ]);
}

/** @param {Results} results */
function promises({ contenders }) {
  const rows = contenders.map((it) => [
    it.title,
    Object.entries(it.versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(', '),
    it.runs,
    it.resident ? 'all in memory' : 'what is read',
    it.resolved,
    it.keeps ? (it.savedBy ?? 'the promise itself') : 'nothing',
    it.usage,
  ]);
  const head = [
    '',
    'versions',
    'runs in the',
    'holds',
    'a promise means',
    'durable by',
    'used with',
  ];
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

/** @param {readonly Ranking[]} rankings @returns {string[]} */
function sections(rankings) {
  const titles = [...new Set(rankings.map(({ workload }) => workload))];
  return titles.flatMap((workload) => {
    const own = rankings.filter((it) => it.workload === workload);
    return [`## ${own[0]?.title}`, ...own.flatMap(section)];
  });
}

/** @param {Ranking} ranking */
function section({ metric, what, unit, durable, entries }) {
  const rows = entries.map(({ contender, median, min, max, runs, toBest, toLimit }) => [
    contender.kind === 'limit' ? `*${contender.title}*` : contender.title,
    figure(median),
    figure(min),
    figure(max),
    String(runs),
    times(toBest),
    times(toLimit),
    durable ? durability(contender) : contender.resolved,
  ]);
  const head = ['', `median, ${unit}`, 'min', 'max', 'runs', '/ best peer', '/ limit', 'means'];
  const heading = metric === unit ? what : `${metric}: ${what}`;
  return [`**${heading[0]?.toUpperCase()}${heading.slice(1)}**`, table([head, ...rows])];
}

/** The meaning of a durable figure. @param {Entry['contender']} contender */
const durability = ({ resolved, savedBy }) =>
  savedBy ? `transaction complete, by ${savedBy}` : resolved;
