import type { LiveActivity } from '../../page/sending/observed-call.ts';
import type { InspectedDatabase } from '../inspect/inspected-database.ts';
import { printQuery, printShort } from '../values/print-value.ts';
import { fill, h, table, type View } from './dom.ts';
import { clockText, count, counted, millisecondsText } from './format-text.ts';

const HEADS = [
  'Collection',
  'Query',
  'Status',
  'Documents',
  'Emissions',
  'Last',
  'First result',
  'Since',
];

export function liveView(inspected: InspectedDatabase): View {
  const summary = h('p', { class: 'summary' });
  const list = h('div', { class: 'results' });
  let drawn = '';
  return {
    element: h('div', { class: 'pane' }, summary, list),
    refresh() {
      const { lives } = inspected;
      const rows = lives.map((live) => [
        live.collection,
        h('code', {}, queryText(live)),
        h('span', { class: `state ${live.status}` }, live.error?.message ?? live.status),
        live.documents === undefined ? '–' : count(live.documents),
        count(live.emissions),
        clockText(live.last_emission),
        live.first_ms === undefined ? '–' : millisecondsText(live.first_ms),
        clockText(live.since),
      ]);
      const now = JSON.stringify(rows.map((row) => row.map((cell) => textOf(cell))));
      if (now === drawn) return;
      drawn = now;
      fill(
        summary,
        lives.length === 0
          ? 'No live query in this page: collection.live() makes one.'
          : `${counted(lives.length, 'live query').replace('querys', 'queries')} in this page`,
      );
      fill(list, lives.length > 0 && table('Live queries', HEADS, rows));
    },
  };
}

const textOf = (cell: string | HTMLElement) => (typeof cell === 'string' ? cell : cell.textContent);

function queryText({ key, call, count }: LiveActivity): string {
  if (!call) return `at ${printShort(key)}`;
  const [asked, options] = call.args;
  const kind = count
    ? 'count '
    : { liveAggregate: 'aggregate ', liveSearch: 'search ' }[call.method];
  return (kind ?? '') + printQuery(asked, options as object | undefined);
}
