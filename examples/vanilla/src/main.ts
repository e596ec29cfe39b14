import { contains } from 'cairndb/text';
import './app.css';
import { exportTasks, importTasks } from './copies';
import { db, tasks } from './database';
import { TaskList } from './task-list';

const PAGE = 50;

const element = <E extends HTMLElement>(id: string) => document.getElementById(id) as E;

/** Shows what went wrong, and why. */
function report(error: unknown): void {
  const problem = element('problem');
  problem.hidden = false;
  problem.textContent = error instanceof Error ? error.message : String(error);
}

// The list: the newest first, what the search field says, as many as the reader asked for.
const list = new TaskList(element('list'), report, offerUndo);
let shown = PAGE;
let stop: (() => void) | undefined;

function show(): void {
  const criteria = {
    text: contains(element<HTMLInputElement>('search').value, { ignore_case: true }),
  };
  const query = tasks.live(criteria, { sort: { _created_timestamp: -1 }, limit: shown + 1 });
  const stopNext = query.subscribe(({ status, data, error }) => {
    if (error) report(error);
    if (status !== 'ready') return; // the list before stays until then
    list.show(data.slice(0, shown));
    element('empty').hidden = data.length > 0;
    element('more').hidden = data.length <= shown;
  });
  stop?.();
  stop = stopNext;
}

show();
element('search').addEventListener('input', show);
element('more').addEventListener('click', () => {
  shown += PAGE;
  show();
});

element<HTMLFormElement>('add').addEventListener('submit', (event) => {
  event.preventDefault();
  const form = event.target as HTMLFormElement;
  const text = String(new FormData(form).get('text')).trim();
  form.reset();
  if (text) tasks.insert({ text, done: false }).catch(report);
});

tasks.liveCount({ done: false }).subscribe(({ data }) => {
  if (data !== undefined) element('count').textContent = `${data} open`;
});

// Deleting archives: the task is still there to be brought back.
let undoTimer: ReturnType<typeof setTimeout>;
function offerUndo(id: string): void {
  const undo = element('undo');
  undo.hidden = false;
  clearTimeout(undoTimer);
  undoTimer = setTimeout(() => (undo.hidden = true), 8000);
  const button = undo.querySelector('button') as HTMLButtonElement;
  button.onclick = () => {
    undo.hidden = true;
    tasks.unarchive(id).catch(report);
  };
}

function showStatus(): void {
  const { unsaved, storage } = db.status;
  const where = storage === 'memory' ? 'Kept until you close the page.' : 'Kept on this device.';
  element('status').textContent = unsaved > 0 ? 'Saving …' : where;
}
db.on('status', showStatus);
showStatus();
db.on('error', ({ error }) => report(error));

element('export').addEventListener('click', () => exportTasks().catch(report));
element('import').addEventListener('change', (event) => {
  const input = event.target as HTMLInputElement;
  const file = input.files?.[0];
  if (file) importTasks(file).catch(report);
  input.value = '';
});
// After a gesture, which some browsers want: else they may delete the data when space is short.
addEventListener('click', () => db.storage.persist().catch(report), { once: true });
