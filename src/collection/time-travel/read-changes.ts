import { decode } from '../../codec/body.ts';
import type { ChangedRecord, RecordSide } from '../../engine/protocol/backup-protocol.ts';
import { documentBuilder } from '../../engine/protocol/managed.ts';
import type { CollectionSettings } from '../../engine/protocol/settings.ts';
import type { ChangeSource } from './change-source.ts';
import type { ValueChange } from './change-types.ts';
import { fieldChanges } from './field-changes.ts';

type Build = (key: string, side: RecordSide) => unknown;

/** The changes of a diff, part by part. */
export async function* readChanges<C>(
  cursor: number,
  { settings, channel: open }: ChangeSource,
): AsyncGenerator<C, void, undefined> {
  const channel = await open();
  const build = builderOf(settings);
  try {
    for (;;) {
      const part = await channel.send({ op: 'exportNext', cursor, urgent: true });
      if (part?.kind !== 'changes') return;
      for (const record of part.changes) {
        const change = await changeOf(record, build);
        if (change) yield change as C;
      }
    }
  } finally {
    // An engine that was lost, or has closed, compares no more.
    await channel.send({ op: 'exportEnd', cursor, urgent: true }).catch(() => undefined);
  }
}

/** Builds a document, or a value, of a version. */
function builderOf(settings: CollectionSettings): Build {
  if (settings.type === 'KEY_VALUE_BASED') return (_, [, , body]) => decode(body);
  const build = documentBuilder(settings);
  return (key, [flags, stamps, body]) => build(key, flags, stamps, decode(body) as object);
}

/** `undefined` where the two versions turn out to be equal. */
async function changeOf(
  { key: id, before: from, after: to }: ChangedRecord,
  build: Build,
): Promise<ValueChange | undefined> {
  if (from && to) {
    const before = build(id, from);
    const after = build(id, to);
    const changes = await fieldChanges(before, after);
    return changes.length > 0 ? { type: 'changed', id, before, after, changes } : undefined;
  }
  return from
    ? { type: 'removed', id, before: build(id, from) }
    : { type: 'added', id, after: build(id, to as RecordSide) };
}
