import type { AnyDocument } from '../api/document-types.ts';
import { isPlainObject, nameOf } from '../codec/kinds.ts';
import { sameValue } from '../codec/same-value.ts';
import type { DocumentCollection } from '../page/collections/document-collection.ts';
import type { KeyValueCollection } from '../page/collections/key-value-collection.ts';
import type {
  Transaction,
  TransactionDocuments,
  TransactionKeyValues,
} from '../page/transactions/transaction-types.ts';
import { isManaged } from '../storage/segments/stored-record.ts';

/** What a history puts back of a document, or of the value of a record. */
interface UndoState {
  /** The caller's fields; the value. */
  readonly value: unknown;
  readonly archived: boolean;
}

/** A state; `undefined` where there is no such record. */
export type MaybeState = UndoState | undefined;

export type AnyMethods = TransactionDocuments<AnyDocument> & TransactionKeyValues;

export type AnyCollection = Pick<DocumentCollection, 'name' | 'type'>;

/** @returns its methods in a transaction, whichever its type. */
export function methodsIn(tx: Transaction, collection: AnyCollection): AnyMethods {
  return tx(collection as DocumentCollection & KeyValueCollection) as unknown as AnyMethods;
}

export async function readStates(
  { type }: AnyCollection,
  methods: AnyMethods,
  ids: readonly string[],
): Promise<MaybeState[]> {
  if (type === 'DOCUMENT_BASED') return (await methods.getMany(ids)).map(stateOf);
  const states: MaybeState[] = [];
  for (const id of ids) {
    const isThere = await methods.has([id] as never);
    states.push(isThere ? { value: await methods.get([id] as never), archived: false } : undefined);
  }
  return states;
}

function stateOf(document: (AnyDocument & { readonly _archived: boolean }) | undefined) {
  if (!document) return undefined;
  const own = Object.entries(document).filter(([name]) => !isManaged(name));
  return { value: Object.fromEntries(own), archived: document._archived };
}

/** Brings a record from one state to another. */
export async function writeState(
  { type }: AnyCollection,
  methods: AnyMethods,
  id: string,
  from: MaybeState,
  to: MaybeState,
): Promise<void> {
  if (type !== 'DOCUMENT_BASED') {
    if (to) await methods.set([id], to.value);
    else await methods.delete([id] as never);
    return;
  }
  if (!to) {
    await methods.delete(id);
    return;
  }
  const fields = to.value as AnyDocument;
  if (!from) await methods.insert({ ...fields, _id: id });
  else if (from.value !== to.value) await methods.update(id, fields);
  if ((from?.archived ?? false) !== to.archived)
    await (to.archived ? methods.archive(id) : methods.unarchive(id));
}

/** A part of a record that stays as it is. */
export interface KeptPart {
  /** The path of a field, or inside of the value; none for the whole record. */
  readonly path?: string;
  /** `gone`: others have deleted the record. */
  readonly reason: 'changed' | 'gone';
}

/**
 * The state that a record shall have where a step goes from one state to another: what others
 * changed since stays. @param kept Gets the parts of the step that stay.
 */
export async function stateBetween(
  from: MaybeState,
  to: MaybeState,
  current: MaybeState,
  kept: KeptPart[],
): Promise<MaybeState> {
  const keep = (reason: KeptPart['reason']) => {
    kept.push({ reason });
    return current;
  };
  if (!current) return from ? keep('gone') : to;
  if (!from || !to) {
    const isUntouched =
      from && from.archived === current.archived && (await isSame(from.value, current.value));
    return isUntouched ? to : keep('changed');
  }
  const paths: string[] = [];
  const value = await valueBetween(from.value, to.value, current.value, '', paths);
  for (const path of paths) kept.push({ ...(path && { path }), reason: 'changed' });
  // Of two states, one is the current one.
  const { archived } = to;
  return value === current.value && archived === current.archived ? current : { value, archived };
}

/** A field that is not there. */
const ABSENT = Symbol('absent');

/** Objects are looked through, other values are taken as a whole. */
async function valueBetween(
  from: unknown,
  to: unknown,
  current: unknown,
  path: string,
  kept: string[],
): Promise<unknown> {
  if (await isSame(from, to)) return current;
  if (await isSame(from, current)) return to;
  if (await isSame(to, current)) return current;
  if (!isPlainObject(from) || !isPlainObject(to) || !isPlainObject(current)) {
    kept.push(path);
    return current;
  }
  const fields: [string, unknown][] = [];
  let isOther = false;
  for (const key of new Set([...Object.keys(current), ...Object.keys(to)])) {
    const [f, t, c] = [own(from, key), own(to, key), own(current, key)];
    const value = await valueBetween(f, t, c, path ? `${path}.${key}` : key, kept);
    if (value !== ABSENT) fields.push([key, value]);
    isOther ||= value !== c;
  }
  // Not by assignment: `__proto__` is a name like others here.
  return isOther ? Object.fromEntries(fields) : current;
}

function own(fields: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(fields, key) ? fields[key] : ABSENT;
}

/** Whether two values are deeply equal, in any order of keys; see {@link isSameOfPlatform}. */
export async function isSame(a: unknown, b: unknown): Promise<boolean> {
  if (sameValue(a, b)) return true;
  if (isOpaque(a) && isOpaque(b)) return isSameOfPlatform(a, b);
  const isList = Array.isArray(a) && Array.isArray(b) && a.length === b.length;
  if (!isList && !(isPlainObject(a) && isPlainObject(b))) return false;
  const [left, right] = [a, b] as [Record<string, unknown>, Record<string, unknown>];
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  for (const key of keys)
    if (!Object.hasOwn(right, key) || !(await isSame(left[key], right[key]))) return false;
  return true;
}

type Opaque = Blob | CryptoKey | FileSystemHandle;

const OPAQUE = /^(?:Blob|File|CryptoKey|FileSystem(?:File|Directory)Handle)$/;

function isOpaque(value: unknown): value is Opaque {
  return typeof value === 'object' && value !== null && OPAQUE.test(nameOf(value));
}

/** Blobs by their bytes, handles by what they stand for, keys by what they are or make. */
async function isSameOfPlatform(a: Opaque, b: Opaque): Promise<boolean> {
  if (nameOf(a) !== nameOf(b)) return false;
  if ('size' in a && 'size' in b)
    return (
      a.size === b.size &&
      a.type === b.type &&
      sameValue(await a.arrayBuffer(), await b.arrayBuffer())
    );
  if ('kind' in a && 'kind' in b) return a.isSameEntry(b);
  const [left, right] = await Promise.all([traceOf(a as CryptoKey), traceOf(b as CryptoKey)]);
  return left !== undefined && sameValue(left, right);
}

/**
 * What tells a key from others of its kind: its content, or what it makes of nothing. `undefined`
 * for one that neither leaves the browser nor makes the same twice.
 */
async function traceOf(key: CryptoKey): Promise<unknown> {
  const { type, extractable, algorithm, usages } = key;
  const { subtle } = crypto;
  const { name } = algorithm;
  const facts = { type, extractable, usages: [...usages].sort(), algorithm: { ...algorithm } };
  const nothing = new Uint8Array(16);
  try {
    if (extractable) return { facts, content: await subtle.exportKey('jwk', key) };
    if (usages.includes('encrypt') && name.startsWith('AES')) {
      const how = { name, iv: nothing, counter: nothing, length: 64 };
      return { facts, made: await subtle.encrypt(how, key, nothing) };
    }
    if (usages.includes('sign') && !/^(?:ECDSA|RSA-PSS)$/.test(name))
      return { facts, made: await subtle.sign(name, key, nothing) };
  } catch {
    // This browser does not know the algorithm.
  }
  return undefined;
}
