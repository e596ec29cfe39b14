import { decode } from '../../codec/body.ts';
import type { ChangedRecord, RecordSide } from '../../engine/protocol/backup-protocol.ts';
import { documentBuilder } from '../../engine/protocol/managed.ts';
import type { CollectionSettings } from '../../engine/protocol/settings.ts';
import type { HandleChannel } from '../calls/handle-channel.ts';
import type { DocumentChange, ValueChange } from './change-types.ts';
import { fieldChanges } from './field-changes.ts';

/** Where the changes of a diff come from. */
interface Source {
  readonly settings: CollectionSettings;
  readonly channel: () => Promise<HandleChannel>;
}

/** The changes of a diff between documents, part by part. */
export function documentChanges<C extends DocumentChange>(
  cursor: number,
  source: Source,
): AsyncGenerator<C, void, undefined> {
  const build = documentBuilder(source.settings);
  return readChanges(cursor, source, (key, [flags, stamps, body]) =>
    build(key, flags, stamps, decode(body) as object),
  );
}

/** The changes of a diff between values. */
export function valueChanges<C extends ValueChange>(
  cursor: number,
  source: Source,
): AsyncGenerator<C, void, undefined> {
  return readChanges(cursor, source, (_, [, , body]) => decode(body));
}

type Build = (key: string, side: RecordSide) => unknown;

async function* readChanges<C>(
  cursor: number,
  source: Source,
  build: Build,
): AsyncGenerator<C, void, undefined> {
  const channel = await source.channel();
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
