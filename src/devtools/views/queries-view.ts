import type { InspectedDatabase } from '../inspect/inspected-database.ts';
import type { QueryRecord } from '../inspect/query-log.ts';
import { printQuery } from '../values/print-value.ts';
import { button, fill, h, table, type View } from './dom.ts';
import { answerText, count, counted, millisecondsText } from './format-text.ts';

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
