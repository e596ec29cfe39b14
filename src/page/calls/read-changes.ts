import type { FieldChange, ValueChange } from '../../api/document-types.ts';
import { decode } from '../../codec/capture.ts';
import { isPlainObject, tagOf } from '../../codec/kinds.ts';
import { sameValue } from '../../codec/same-value.ts';
import type { ChangedRecord, RecordSide } from '../../protocol/backup-protocol.ts';
import { documentBuilder } from '../../protocol/managed.ts';
import type { CollectionSettings } from '../../protocol/settings.ts';
import type { HandleChannel } from '../sending/handle-channel.ts';

type Build = (key: string, side: RecordSide) => unknown;

export async function* readFieldChanges<C>(
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

/** Where the changes of a diff come from. */
export interface ChangeSource {
  readonly settings: CollectionSettings;
  readonly channel: () => Promise<HandleChannel>;
}

/**
 * The paths at which two values differ. Objects are compared key by key, in any order, arrays of
 * one length item by item, all others as a whole; so is what holds a key that no path can name.
 */
async function fieldChanges(before: unknown, after: unknown): Promise<FieldChange[]> {
  const changes: FieldChange[] = [];
  for (const change of differences(before, after, undefined))
    if (!(await haveSameBytes(change.before, change.after))) changes.push(change);
  return changes;
}

/** Blobs count as different. */
function* differences(
  before: unknown,
  after: unknown,
  path: string | undefined,
): Generator<FieldChange> {
  const parts = partsOf(before, after, path === undefined);
  if (!parts) {
    if (!sameValue(before, after)) yield { path: path ?? '', before, after };
    return;
  }
  const [older, newer] = parts;
  for (const key of new Set([...Object.keys(newer), ...Object.keys(older)])) {
    const inner = path === undefined ? key : `${path}.${key}`;
    if (!Object.hasOwn(older, key)) yield { path: inner, after: newer[key] };
    else if (!Object.hasOwn(newer, key)) yield { path: inner, before: older[key] };
    else yield* differences(older[key], newer[key], inner);
  }
}

type Parts = Record<string, unknown>;

/** Both values, where their parts have paths; else `undefined`. */
function partsOf(before: unknown, after: unknown, isRoot: boolean): [Parts, Parts] | undefined {
  if (Array.isArray(before) && Array.isArray(after))
    return before.length === after.length ? [before as never, after as never] : undefined;
  if (!isPlainObject(before) || !isPlainObject(after)) return undefined;
  const both = [before, after] as [Parts, Parts];
  return isRoot || both.every((one) => Object.keys(one).every(isNameable)) ? both : undefined;
}

function isNameable(key: string): boolean {
  return key !== '' && !key.includes('.');
}

async function haveSameBytes(before: unknown, after: unknown): Promise<boolean> {
  if (!isBlob(before) || !isBlob(after)) return false;
  if (before.size !== after.size || before.type !== after.type) return false;
  return sameValue(await before.arrayBuffer(), await after.arrayBuffer());
}

function isBlob(value: unknown): value is Blob {
  const tag = typeof value === 'object' && value !== null ? tagOf(value) : undefined;
  return tag === 'Blob' || tag === 'File';
}
