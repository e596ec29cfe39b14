import type { ActivityEntry } from '../inspect/activity-log.ts';
import type { InspectedDatabase } from '../inspect/inspected-database.ts';
import { button, fill, h, table, type View } from './dom.ts';
import { clockText, count } from './format-text.ts';

/** The last minute is drawn. */
const SHOWN_MS = 60_000;
const WIDTH = 600;
const HEIGHT = 56;
const SVG = 'http://www.w3.org/2000/svg';
const MARKED: ReadonlySet<string> = new Set(['save', 'error', 'restore']);

/** Unsaved changes, saves and other events as a time line. */
export function activityView(inspected: InspectedDatabase): View {
  const { activity, db } = inspected;
  const summary = h('p', { class: 'summary' });
  const plot = h('div', { class: 'plot' });
  const list = h('div', { class: 'results' });
  let drawn = '';

  const drawList = (): void => {
    const now = JSON.stringify(activity.entries);
    if (now === drawn) return;
    drawn = now;
    const rows = activity.entries
      .toReversed()
      .map(({ at, kind, collection, text }) => [
        clockText(at),
        h('span', { class: `kind ${kind}` }, kind.replace('_', ' ')),
        collection ?? '',
        text,
      ]);
    const heads = ['Time', 'Event', 'Collection', 'What'];
    fill(
      list,
      rows.length > 0 ? table('Events', heads, rows) : 'No event since the devtools were opened.',
    );
  };

  const refresh = (): void => {
    const { unsaved, unsaved_since, last_save } = db.status;
    const since = unsaved > 0 ? ` since ${clockText(unsaved_since)}` : '';
    fill(summary, `${count(unsaved)} unsaved${since} · last save ${clockText(last_save)}`);
    fill(plot, drawing(activity.unsaved, activity.entries));
    drawList();
  };
  const clear = (): void => {
    activity.clear();
    refresh();
  };
  return {
    element: h(
      'div',
      { class: 'pane' },
      h('div', { class: 'bar' }, summary, button('Clear', clear)),
      plot,
      list,
    ),
    refresh,
  };
}

/** Unsaved changes of the last minute as steps, with a mark for each save and error. */
function drawing(
  unsaved: readonly { readonly at: number; readonly unsaved: number }[],
  entries: readonly ActivityEntry[],
): Element {
  const now = Date.now();
  const from = now - SHOWN_MS;
  const most = Math.max(1, ...unsaved.filter(({ at }) => at >= from).map((each) => each.unsaved));
  const xOf = (at: number) => (Math.max(0, at - from) / SHOWN_MS) * WIDTH;
  const yOf = (value: number) => HEIGHT - 3 - (value / most) * (HEIGHT - 12);
  const begin = unsaved.findLast(({ at }) => at < from)?.unsaved ?? 0;
  let path = `M0 ${yOf(begin).toFixed(1)}`;
  for (const { at, unsaved: value } of unsaved)
    if (at >= from) path += `H${xOf(at).toFixed(1)}V${yOf(value).toFixed(1)}`;
  const marks = entries.filter(({ at, kind }) => at >= from && MARKED.has(kind));
  const saves = marks.filter(({ kind }) => kind === 'save').length;
  const drawn = svg(
    'svg',
    {
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      preserveAspectRatio: 'none',
      role: 'img',
      'aria-label': `Unsaved changes of the last minute: at most ${most}, ${saves} saves`,
    },
    ...marks.map(({ at, kind }) =>
      svg('line', { class: kind, x1: xOf(at), x2: xOf(at), y1: 2, y2: HEIGHT - 3 }),
    ),
    svg('path', { d: `${path}H${WIDTH}` }),
  );
  return h(
    'figure',
    {},
    drawn,
    h(
      'figcaption',
      { 'aria-hidden': 'true' },
      h('span', {}, '60 s ago'),
      h('span', {}, `at most ${count(most)} unsaved; lines are saves`),
      h('span', {}, 'now'),
    ),
  );
}

function svg(
  tag: string,
  attributes: Readonly<Record<string, string | number>>,
  ...children: readonly Element[]
): Element {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}
