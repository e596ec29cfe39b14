import type { InspectedDatabase } from '../inspect/inspected-database.ts';
import { printShort } from '../values/print-value.ts';
import { button, facts, fill, h, type View } from './dom.ts';
import { clockText, count, messageOf } from './format-text.ts';

const PLACES = { thread: 'this thread', worker: 'a worker of this page', tab: 'another tab' };
const STARTS = {
  file: 'from its file',
  inline: 'from a Blob (no worker file found)',
  given: 'by the app',
  thread: 'in this thread',
  tab: 'by another tab',
};

export function engineView({ db, activity }: InspectedDatabase): View {
  const problem = h('p', { class: 'problem', role: 'alert' });
  const status = h('div', {});
  const replications = h('div', {});
  const save = (): void => {
    db.save().then(
      () => fill(problem),
      (error: unknown) => fill(problem, messageOf(error)),
    );
  };
  return {
    element: h(
      'div',
      { class: 'pane' },
      status,
      h('div', { class: 'bar' }, button('Save now', save)),
      problem,
      replications,
    ),
    refresh() {
      const { state, engine, started, leader, storage, tabs, unsaved, ...times } = db.status;
      const { unsaved_since, last_save, last_error } = times;
      const since = unsaved > 0 ? `, since ${clockText(unsaved_since)}` : '';
      fill(
        status,
        facts([
          ['Database', db.name],
          ['State', h('span', { class: `state ${state}` }, state)],
          ['Leader', leader === undefined ? '–' : leader ? 'this page' : 'another tab'],
          ['Engine', engine && PLACES[engine]],
          ['Started', started && STARTS[started]],
          ['Storage', storage],
          ['Tabs', count(tabs)],
          ['Unsaved changes', `${count(unsaved)}${since}`],
          ['Last save', clockText(last_save)],
          ['Last error', last_error ? messageOf(last_error) : 'none'],
        ]),
      );
      const rows = [...activity.replications].map(
        ([collection, { collection: _, ...report }]) =>
          [collection, printShort(report, 300)] as const,
      );
      fill(replications, rows.length > 0 && h('b', {}, 'Replication'), facts(rows));
    },
  };
}
