import { type ReadonlySignal, signal, untracked } from '@preact/signals';
import type { DocumentCollection, Stored } from 'cairndb';
import { type UndoHistory, type UndoSnapshot, type UndoSummary, undo } from 'cairndb/undo';
import { announce } from '../../app/announcer.tsx';
import { anotherHandle, collectionOf, connection } from '../../database/database.ts';
import type { Column } from '../../database/table.ts';
import { messageOf } from '../../parts/message-of.ts';
import { cellText } from './grid/cell-text.ts';
import { archive, edit, remove, unarchive } from './recipes/change.ts';
import { table } from './view.ts';

/** A drop, which is no step of a history, and its undo. */
export interface Dropped {
  readonly text: string;
  readonly undo: () => Promise<unknown>;
}

export const lastDrop = signal<Dropped | undefined>(undefined);

/** The error of the last action. */
export const actionProblem = signal('');

/** What the panel changes in a table, through a handle of its own: an import is no step. */
interface Editing {
  readonly all: DocumentCollection;
  readonly history: UndoHistory;
  readonly state: ReadonlySignal<UndoSnapshot>;
}

/** By the handles of the tables, which a drop or a reopening replaces. */
const editings = new WeakMap<DocumentCollection, Editing>();

/** Components that call this rerun when the table or its handle is another one. */
export function editing(): Editing {
  const { name } = table.value;
  const shown = collectionOf(name);
  const known = editings.get(shown);
  if (known) return known;
  const all = anotherHandle(name);
  const history = undo(connection(), { collections: [all] });
  const state = signal(history.getSnapshot());
  history.subscribe((fresh) => {
    state.value = fresh;
  });
  const made = { all, history, state };
  editings.set(shown, made);
  return made;
}

async function perform(
  label: string,
  step: (history: UndoHistory, all: DocumentCollection, label: string) => Promise<unknown>,
): Promise<void> {
  actionProblem.value = '';
  lastDrop.value = undefined;
  const { history, all } = untracked(editing);
  try {
    await step(history, all, label);
    announce(label);
  } catch (error) {
    actionProblem.value = messageOf(error);
  }
}

/** A document's display name: its first cell. */
function nameOf(row: Stored): string {
  const [column] = table.peek().columns;
  return (column && cellText(row, column)) || row._id;
}

export const editCell = (row: Stored, column: Column, value: unknown): Promise<void> =>
  perform(`${column.title} of ${nameOf(row)} changed.`, (history, all, label) =>
    edit(history, all, label, row._id, column.path, value),
  );

export const toggleArchived = (row: Stored): Promise<void> =>
  row._archived
    ? perform(`${nameOf(row)} unarchived.`, (...given) => unarchive(...given, row._id))
    : perform(`${nameOf(row)} archived.`, (...given) => archive(...given, row._id));

export const removeRow = (row: Stored): Promise<void> =>
  perform(`${nameOf(row)} deleted.`, (...given) => remove(...given, row._id));

export const undoLast = (): Promise<void> => {
  const dropped = lastDrop.peek();
  lastDrop.value = undefined;
  return takeBack('Undone.', dropped?.undo ?? (() => untracked(editing).history.undo()));
};

export const redoLast = (): Promise<void> =>
  takeBack('Redone.', () => untracked(editing).history.redo());

async function takeBack(said: string, act: () => Promise<unknown>): Promise<void> {
  actionProblem.value = '';
  try {
    const { skipped = [] } = ((await act()) ?? {}) as Partial<UndoSummary>;
    if (skipped.length > 0) actionProblem.value = 'Others have changed it since: that stays.';
    else announce(said);
  } catch (error) {
    actionProblem.value = messageOf(error);
  }
}
