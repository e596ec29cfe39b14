import { connect } from 'cairndb';
import { http, replicate } from 'cairndb/replication';

const db = connect({ name: 'sync-postgres' });
const tasks = new db.Collection({ name: 'tasks', type: 'DOCUMENT_BASED' });
const sync = replicate(tasks, { remote: http({ url: '/sync/tasks' }) });

// The list: a live query shows local changes at once, and those of others as they come.
const list = get('tasks');
const rows = new WeakMap();
tasks.live({}, { sort: { added: 1 } }).subscribe(({ data = [] }) => {
  // Documents that did not change are the same objects: their rows stay, with the focus.
  for (const task of data) if (!rows.has(task)) rows.set(task, rowOf(task));
  const shown = data.map((task) => rows.get(task));
  for (const row of [...list.children]) if (!shown.includes(row)) row.remove();
  for (const [index, row] of shown.entries())
    if (list.children[index] !== row) list.insertBefore(row, list.children[index] ?? null);
});

get('add').addEventListener('submit', (event) => {
  event.preventDefault();
  const { text } = event.target.elements;
  tasks.insert({ text: text.value, done: false, count: 1, added: new Date() });
  text.value = '';
});

function rowOf({ _id, text, done, count = 1 }) {
  const box = element('input', { type: 'checkbox', checked: done, ariaLabel: `${text} is done` });
  const field = element('input', { value: text, ariaLabel: 'Text' });
  // Two devices that count at the same time, or offline, are both counted.
  const more = element('button', { textContent: `× ${count}`, ariaLabel: `One more: ${count}` });
  more.onclick = () => tasks.patch(_id, { $inc: { count: 1 } });
  const remove = element('button', { textContent: 'Delete', onclick: () => tasks.delete(_id) });
  box.onchange = () => tasks.patch(_id, { done: box.checked });
  field.onchange = () => tasks.patch(_id, { text: field.value });
  return element('li', {}, box, field, more, remove);
}

// The replication: its status, a switch to try out conflicts, and how they were decided.
sync.on('status', showStatus);
showStatus(sync.status);

function showStatus({ state, pending, error }) {
  get('status').textContent = `${state}, ${pending} to push. ${error?.message ?? ''}`;
}

get('online').addEventListener('change', ({ target }) => {
  if (target.checked) sync.resume();
  else sync.pause();
});

sync.on('conflict', ({ id, local, remote }) => {
  const textOf = (task) => (task ? `“${task.text}”` : 'the deletion');
  const mine = element('button', { textContent: `Take ${textOf(local)}` });
  mine.onclick = () => (local ? tasks.upsert(local) : tasks.delete(id)); // a change like any other
  const text = `Here ${textOf(local)}, on the server ${textOf(remote)}. `;
  get('conflicts').append(element('li', {}, text, mine));
});

function get(id) {
  return document.getElementById(id);
}

function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}
