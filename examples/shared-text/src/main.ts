import './app.css';
import { awareness, kept, sync, text } from './database';
import { bindField } from './text-field';

const element = <E extends HTMLElement>(id: string) => document.getElementById(id) as E;

function report(error: unknown): void {
  const problem = element('problem');
  problem.hidden = false;
  problem.textContent = error instanceof Error ? error.message : String(error);
}

// The text: what this browser has is there at once, also without a network.
const field = element<HTMLTextAreaElement>('text');
kept.on('error', report);
kept.ready.then(() => {
  bindField(field, text);
  field.disabled = false;
}, report);

// The people: each tab tells the others its name, and whether it writes.
const NAMES = ['Ada', 'Bo', 'Cy', 'Dee', 'Eve', 'Flo'];
awareness.setLocalState({ name: NAMES[awareness.clientID % NAMES.length], writes: false });
awareness.on('change', showPeople);
field.addEventListener('focus', () => awareness.setLocalStateField('writes', true));
field.addEventListener('blur', () => awareness.setLocalStateField('writes', false));
showPeople();

function showPeople(): void {
  const names = [...awareness.getStates()].map(([client, { name, writes }]) => {
    const you = client === awareness.clientID ? ' (you)' : '';
    return `${name}${you}${writes ? ' ✎' : ''}`;
  });
  element('people').textContent = names.join(', ');
}

// The server.
const online = element<HTMLInputElement>('online');
online.addEventListener('change', () => (online.checked ? sync.resume() : sync.pause()));
sync.on('status', showStatus);
showStatus();

function showStatus(): void {
  const { state, pending, error } = sync.status;
  element('status').textContent = `${state}, ${pending} to push. ${error?.message ?? ''}`;
}
