import { effect, signal } from '@preact/signals';
import type { BackupInfo, CollectionUsage, DocumentChange } from 'cairndb';
import { announce } from '../../app/announcer.tsx';
import { collectionOf, connection } from '../../database/database.ts';
import { formatBytes, formatCount } from '../../parts/format.ts';
import { messageOf } from '../../parts/message-of.ts';
import { create, restore } from './recipes/backups.ts';
import { compare, restoreOne } from './recipes/compare.ts';
import { download, restoreFrom } from './recipes/files.ts';

/** Two moments: a backup, and another one or, where it is empty, now. */
export interface Moments {
  readonly from: string;
  readonly to: string;
}

/** The difference between two moments. */
export interface Comparison extends Moments {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  /** The first changes. */
  readonly first: readonly DocumentChange[];
}

export const backedUp = signal('cities');
export const backups = signal<readonly BackupInfo[]>([]);
export const use = signal<CollectionUsage | undefined>(undefined);
export const comparison = signal<Comparison | undefined>(undefined);
/** The moments that are chosen; without a backup the newest one. */
export const moments = signal<Moments>({ from: '', to: '' });

/** The running action as text, empty when idle. */
export const doing = signal('');
/** The result of the last action. */
export const backupNews = signal('');
export const backupProblem = signal('');

const current = () => collectionOf(backedUp.peek());

/** Watches the chosen collection. Returns the function that stops it. */
export const watchBackups = (): (() => void) =>
  effect(() => {
    const name = backedUp.value;
    comparison.value = undefined;
    moments.value = { from: '', to: '' };
    const stop = connection().on('restore', ({ collection }) => {
      if (collection === name) refresh();
    });
    refresh();
    return stop;
  });

let refreshes = 0;

async function refresh(): Promise<void> {
  refreshes += 1;
  const mine = refreshes;
  // An earlier refresh may finish later.
  const isNewest = () => mine === refreshes;
  try {
    const list = await current().listBackups();
    if (isNewest()) backups.value = list;
    const { collections } = await connection().storage.estimate();
    if (isNewest())
      use.value = collections.find(({ collection }) => collection === backedUp.peek());
  } catch (error) {
    backupProblem.value = messageOf(error);
  }
}

/** Runs one action at a time and shows its result. */
async function perform(text: string, action: () => Promise<string>): Promise<void> {
  if (doing.peek()) return;
  doing.value = text;
  backupProblem.value = '';
  backupNews.value = '';
  try {
    backupNews.value = await action();
    announce(backupNews.value);
  } catch (error) {
    backupProblem.value = messageOf(error);
  } finally {
    doing.value = '';
    await refresh();
  }
}

export const createNow = (label: string): Promise<void> =>
  perform('Creating a backup', async () => {
    const began = performance.now();
    await create(current(), label);
    return `Created in ${Math.round(performance.now() - began)} ms.`;
  });

export const restoreNow = ({ name, label }: BackupInfo): Promise<void> =>
  perform('Restoring', async () => {
    const began = performance.now();
    await restore(current(), name);
    comparison.value = undefined;
    return `Restored "${label ?? 'the backup'}" in ${Math.round(performance.now() - began)} ms.`;
  });

export const removeNow = ({ name }: BackupInfo): Promise<void> =>
  perform('Deleting', async () => {
    await current().deleteBackup(name);
    return 'Backup deleted.';
  });

export const downloadNow = ({ name }: BackupInfo): Promise<void> =>
  perform('Writing a file', async () => {
    const bytes = await download(current(), name);
    return `Downloaded a file of ${formatBytes(bytes)}.`;
  });

export const compareMoments = (chosen: Moments): Promise<void> =>
  perform('Comparing', async () => {
    const { from, to } = chosen;
    moments.value = chosen;
    const began = performance.now();
    comparison.value = { from, to, ...(await compare(current(), from, to || undefined)) };
    return `Compared in ${Math.round(performance.now() - began)} ms.`;
  });

/** Puts one document back as it was at the first of the moments. */
export const restoreDocumentNow = (id: string, { from, to }: Moments): Promise<void> =>
  perform('Restoring one document', async () => {
    await restoreOne(current(), id, from);
    comparison.value = { from, to, ...(await compare(current(), from, to || undefined)) };
    return 'Restored one document.';
  });

export const importNow = (file: File): Promise<void> =>
  perform('Reading the file', async () => {
    const count = await restoreFrom(current(), file, ({ documents }) => {
      doing.value = `Reading the file: ${formatCount(documents, 'document')}`;
    });
    comparison.value = undefined;
    return `Imported ${formatCount(count, 'document')}.`;
  });

/** Something to undo with a backup. */
export const deleteHalf = (): Promise<void> =>
  perform('Deleting every second document', async () => {
    let number = 0;
    const deleted = await current().deleteMany(() => number++ % 2 === 1);
    const way = backups.peek().length > 0 ? 'Restore a backup to undo this.' : '';
    return `${formatCount(deleted, 'document')} deleted. ${way}`;
  });
