import { signal } from '@preact/signals';
import type { ClientStatus, Connection } from 'cairndb';
import { messageOf } from '../../parts/message-of.ts';
import { openBoard } from './recipes/board.ts';
import { makeWorker } from './recipes/crash.ts';
import { openShared } from './recipes/open.ts';

/** This tab, until it is reloaded. */
export const ME = crypto.randomUUID();

/**
 * The panel's own database, so that a crash affects no other. It stays open when the panel is left.
 */
export const shared: Connection = openShared(makeWorker);
export const board = openBoard(shared);

/** Its status. */
export const sharedStatus = signal<ClientStatus>(shared.status);
export const sharedProblem = signal('');

/** Number of stones laid by this tab. */
export const laidHere = signal(0);

/** Lays a stone. */
export async function lay(): Promise<void> {
  laidHere.value += 1;
  try {
    await board.lay(ME);
  } catch (error) {
    laidHere.value -= 1;
    sharedProblem.value = messageOf(error);
  }
}
