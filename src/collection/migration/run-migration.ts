import { versionIn, withVersion } from '../../backup/file/document-version.ts';
import type { FileHeader, FilePart, FileRecord } from '../../backup/file/file-contents.ts';
import { nextTurn } from '../../engine/scheduling/next-turn.ts';
import { type MigrationError, migrationFailed } from '../../errors/migration-error.ts';
import type { MigrationParts } from './migration-parts.ts';
import { RecordMigration } from './record-migration.ts';

/** An engine that is lost takes the migration along. What ends every engine must not be retried for ever. */
const ATTEMPTS = 4;

/** After this long in one turn the page gets a chance to paint. */
const TURN_MS = 12;

/** After this long the engine hears that steps which take their time still run. */
const REPORT_MS = 1000;

/**
 * Migrates the documents of a collection to the version of its handle: the engine hands them out, part by part, the steps
 * run here, and the engine makes the result live at once. Does nothing where another tab has done it.
 *
 * @param backup Its documents are migrated, and take the place of the present ones.
 * @throws {MigrationError} `migration_failed`; {OptionError} `migration_gap`
 */
export async function runMigration(
  parts: MigrationParts,
  backup: string | undefined,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await migrateOnce(parts, backup);
      return;
    } catch (cause) {
      const { code, place, message } = cause as MigrationError;
      const isRefused = (code as string) === 'unique_violation';
      if (isRefused) {
        const why = `The migrated documents were refused. ${message} Nothing was changed.`;
        throw migrationFailed(parts.settings.version, why, place, cause);
      }
      const isLost = ['answer_lost', 'aborted'].includes(code);
      if (!isLost || attempt === ATTEMPTS) throw cause;
    }
  }
}

async function migrateOnce(parts: MigrationParts, backup: string | undefined): Promise<void> {
  const { channel, settings, steps } = parts;
  const { version } = settings;
  const call = Math.random();
  const schema = await parts.schema();
  const migrating = channel.send({
    ...({ op: 'migrate', call, version, backup } as const),
    ...{ urgent: true, once: true },
  });
  // Awaited when the parts have ended.
  migrating.catch(() => undefined);
  let migration: RecordMigration | undefined;
  let records: FileRecord[] = [];
  let done = 0;
  const next = (isWhole: boolean) => {
    const part = { op: 'migratePart', call, records, done, isWhole, urgent: true } as const;
    records = [];
    done = 0;
    return channel.send(part);
  };
  try {
    let turn = Date.now();
    for (let part = await next(true); part; part = await next(true)) {
      migration ??= new RecordMigration(settings, steps, part.from, schema);
      let reported = Date.now();
      for (const record of part.records) {
        const migrated = migration.migrate(record);
        if (migrated) records.push(migrated);
        done++;
        if (Date.now() - reported < REPORT_MS) continue;
        await next(false);
        turn = reported = Date.now();
      }
      if (Date.now() - turn < TURN_MS) continue;
      await nextTurn();
      turn = Date.now();
    }
  } catch (error) {
    channel.send({ op: 'abort', call, urgent: true }).catch(() => undefined);
    throw error;
  }
  await migrating;
}

/** Migrates a section of a file to the version of its collection's handle, part by part. */
export async function migrateSection(
  { settings, steps, schema }: MigrationParts,
  header: FileHeader,
): Promise<(part: FilePart) => FilePart> {
  const migration = new RecordMigration(settings, steps, versionIn(header), await schema());
  return (part) => {
    if (part.kind === 'header')
      return { ...part, header: withVersion(part.header, settings.version) };
    if (part.kind === 'end') return part;
    const records = part.records.flatMap((record) => migration.migrate(record) ?? []);
    return { ...part, records };
  };
}
