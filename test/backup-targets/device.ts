import {
  type BackupToOptions,
  parseBackupToOptions,
} from '../../src/backup-targets/backup-target.ts';
import type { BackupTarget } from '../../src/backup-targets/index.ts';
import { RemoteBackups } from '../../src/backup-targets/remote-backups.ts';
import type {
  BackupEnvironment,
  Memory,
} from '../../src/backup-targets/schedule/page-environment.ts';
import { type DatabaseClient, memoryDriver } from '../../src/index.ts';
import { ThreadLocks } from '../../src/platform/page-locks.ts';
import { testDatabase } from '../../src/testing/index.ts';
import { FakeClock } from '../engine/fake-clock.ts';

export interface Row {
  readonly n: number;
  readonly text?: string;
}

/** A memory that a test can look into. */
function textMemory(): Memory & { readonly texts: Map<string, string> } {
  const texts = new Map<string, string>();
  return {
    texts,
    read: (key) => texts.get(key),
    write: (key, value) => void texts.set(key, value),
    remove: (key) => void texts.delete(key),
  };
}

/** The world of one device: its own clock, memory and locks. */
export function newEnvironment(clock = new FakeClock()): BackupEnvironment & {
  readonly clock: FakeClock;
} {
  return { clock, random: Math.random, locks: new ThreadLocks(), memory: textMemory() };
}

/** A database in memory, with one collection. */
export function newDatabase(name = 'shop') {
  const db = testDatabase({ name, storage: memoryDriver() });
  const rows = new db.Collection<Row>({ name: 'rows', type: 'DOCUMENT_BASED' });
  return { db, rows };
}

/** `backupTo()` in a world of the test's own. */
export function backUpIn(
  environment: BackupEnvironment,
  db: DatabaseClient,
  target: BackupTarget,
  options: BackupToOptions = {},
): RemoteBackups {
  return new RemoteBackups(db, target, parseBackupToOptions(options), environment);
}

/** Documents that compress badly, so that bytes are telling. */
export function rowsFrom(first: number, count: number, size = 250) {
  return Array.from({ length: count }, (_, at) => {
    const n = first + at;
    let text = '';
    let seed = n * 7919 + 1;
    while (text.length < size) {
      seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
      text += seed.toString(36);
    }
    return { _id: `r${n}`, n, text };
  });
}
