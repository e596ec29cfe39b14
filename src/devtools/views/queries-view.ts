import type { LiveActivity } from '../../page/sending/observed-call.ts';
import type { InspectedDatabase } from '../inspect/inspected-database.ts';
import type { QueryRecord } from '../inspect/query-log.ts';
import { printQuery, printShort } from '../values/print-value.ts';
import { button, fill, h, table, type View } from './dom.ts';
import { answerText, clockText, count, counted, millisecondsText } from './format-text.ts';

const HEADS = ['Query', 'Runs', 'Slowest', 'Mean', 'Examined', 'Returned', 'Plan'];

/** The queries of this page with their plans, and the indexes that would help. */
export function queriesView(inspected: InspectedDatabase): View {
  const { queries } = inspected;
  const summary = h('p', { class: 'summary', role: 'status' });
  const advice = h('ul', { class: 'advice-list', 'aria-label': 'Index advice' });
  const list = h('div', { class: 'results' });
  let drawn = '';

  const draw = (): void => {
    const { records, advice: advised } = queries;
    const rows = records.map(rowOf);
    const now = JSON.stringify([rows.map((row) => row.slice(1)), advised]);
    if (now === drawn) return;
    drawn = now;
    const waiting = records.filter(({ explanation }) => !explanation).length;
    fill(
      summary,
      records.length === 0
        ? 'No query since the devtools were opened.'
        : `${counted(records.length, 'kind')} of query since the devtools were opened${waiting > 0 ? `, ${count(waiting)} without a plan yet` : ''}`,
    );
    const items = advised.map(({ collection, message }) =>
      h('li', {}, h('b', {}, `${collection}: `), message),
    );
    fill(advice, ...items);
    advice.hidden = items.length === 0;
    fill(list, rows.length > 0 && table('Queries', HEADS, rows));
  };

  const clear = (): void => {
    queries.clear();
    draw();
  };
  return {
    element: h(
      'div',
      { class: 'pane' },
      h('div', { class: 'bar' }, summary, button('Clear', clear)),
      advice,
      list,
    ),
    refresh() {
      draw();
      // Each explanation runs its query once more, so only while somebody looks.
      void queries.explainAll().then(draw);
    },
  };
}

function rowOf(record: QueryRecord) {
  const { collection, method, params, options, runs, total_ms, slowest_ms, explanation } = record;
  const examined = explanation?.documents_examined;
  return [
    h('code', {}, `${collection}.${method}(${printQuery(params, options)})`),
    count(runs),
    millisecondsText(slowest_ms),
    millisecondsText(total_ms / runs),
    examined === undefined ? '…' : count(examined),
    explanation ? count(explanation.returned) : '…',
    explanation ? answerText(explanation) : '…',
  ];
}

const LIVE_HEADS = [
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
      fill(list, lives.length > 0 && table('Live queries', LIVE_HEADS, rows));
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
