import type { BackupInfo, Verification } from '../../engine/protocol/backup-protocol.ts';
import { type Check, checkOptions, flag } from '../options/option-checks.ts';
import { ask, type Exchange } from './exchange.ts';
import { importFile } from './file-exchanges.ts';

const text: Check = { allowed: 'a string', test: (value) => typeof value === 'string' };

/** Characters of the longest label: it is read with every list of backups, and stands on one line of a file. */
const MAX_LABEL = 1000;

const label: Check = {
  allowed: `a string of at most ${MAX_LABEL} characters`,
  test: (value) => typeof value === 'string' && value.length <= MAX_LABEL,
};

/** What the methods do that both types of collection have. */
export class CommonExchanges {
  *ready(): Exchange<void> {
    yield* ask({ op: 'ready' });
  }

  *save(): Exchange<void> {
    yield* ask({ op: 'save' });
  }

  *drop(enabled: boolean, options: unknown): Exchange<true> {
    const { backup } = checkOptions(options ?? {}, { backup: flag }, 'options');
    return yield* ask({ op: 'drop', enabled, backup: backup as boolean, once: true });
  }

  *createBackup(options: unknown): Exchange<string> {
    const given = checkOptions(options ?? {}, { label }, 'options');
    return yield* ask({
      op: 'createBackup',
      label: given.label as string | undefined,
      asked: Math.random(),
    });
  }

  *listBackups(): Exchange<BackupInfo[]> {
    return yield* ask({ op: 'listBackups' });
  }

  *loadBackup(given: unknown): Exchange<true> {
    return yield* ask({ op: 'loadBackup', name: checkName(given), once: true });
  }

  *deleteBackup(given: unknown): Exchange<true> {
    return yield* ask({ op: 'deleteBackup', name: checkName(given), once: true });
  }

  *exportBackup(given: unknown): Exchange<{ readonly cursor: number }> {
    return yield* ask({ op: 'exportBackup', name: checkName(given) });
  }

  *importBackup(file: unknown, options: unknown): Exchange<number> {
    return yield* importFile('importBackup', file, options);
  }

  *verify(): Exchange<Verification> {
    return yield* ask({ op: 'verify' });
  }
}

function checkName(name: unknown): string {
  const given = checkOptions({ name }, { name: { ...text, required: true } }, 'options');
  return given.name as string;
}
