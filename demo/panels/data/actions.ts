import { signal } from '@preact/signals';
import type { Stored } from 'cairndb';
import { announce } from '../../app/announcer.tsx';
import { collectionOf } from '../../database/database.ts';
import { type Column, valueAt } from '../../database/table.ts';
import { messageOf } from '../../parts/message-of.ts';
import { cellText } from './grid/cell-text.ts';
import { archive, edit, remove, unarchive } from './recipes/change.ts';
import { table } from './view.ts';

/** The last action and its undo. */
export interface Done {
  readonly text: string;
  readonly undo: () => Promise<unknown>;
}

export const lastDone = signal<Done | undefined>(undefined);

/** The error of the last action. */
export const actionProblem = signal('');

async function perform(text: string, action: () => Promise<Done['undo']>): Promise<void> {
  actionProblem.value = '';
  try {
    const undo = await action();
    lastDone.value = { text, undo };
    announce(text);
  } catch (error) {
    actionProblem.value = messageOf(error);
  }
}

const current = () => collectionOf(table.peek().name);

/** A document's display name: its first cell. */
function nameOf(row: Stored): string {
  const [column] = table.peek().columns;
  return (column && cellText(row, column)) || row._id;
}

export const editCell = (row: Stored, column: Column, value: unknown): Promise<void> =>
  perform(`${column.title} of ${nameOf(row)} changed.`, () =>
    edit(current(), row._id, column.path, valueAt(row, column.path), value),
  );

export const toggleArchived = (row: Stored): Promise<void> =>
  row._archived
    ? perform(`${nameOf(row)} unarchived.`, () => unarchive(current(), row._id))
    : perform(`${nameOf(row)} archived.`, () => archive(current(), row._id));

export const removeRow = (row: Stored): Promise<void> =>
  perform(`${nameOf(row)} deleted.`, () => remove(current(), row));

export async function undoLast(): Promise<void> {
  const done = lastDone.peek();
  if (!done) return;
  lastDone.value = undefined;
  try {
    await done.undo();
    announce('Undone.');
  } catch (error) {
    actionProblem.value = messageOf(error);
  }
}
