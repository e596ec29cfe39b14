import type { Body } from '../codec/body.ts';
import { COMPARED, READING_EDIT, READS } from './operation-kinds.ts';

/**
 * A key of a key-value collection: a path such as `'USER_1.friends[0].name'`, a number, or its
 * segments.
 */
export type Key = string | number | readonly (string | number)[];

/** The value at a key, with the version of its record. */
export interface ValueReply {
  readonly body: Body;
  readonly version: number;
}

/** A change inside the value of a record. */
export type KeyValueChange =
  | { readonly op: 'kvSet' | 'kvPush'; readonly key: Key; readonly body: Body }
  | { readonly op: 'kvDelete'; readonly key: Key }
  | { readonly op: 'kvAdd'; readonly key: Key; readonly amount: number }
  | { readonly op: 'kvRemove'; readonly key: Key; readonly criteria: Body };

export interface KeyValueOperations {
  kvSet: { ask: { key: Key; body: Body }; reply: undefined };
  /** With `array`, a value of another kind is an error. */
  kvGet: { ask: { key: Key; array?: boolean }; reply: ValueReply | undefined };
  kvDelete: { ask: { key: Key }; reply: boolean };
  kvPush: { ask: { key: Key; body: Body }; reply: Body };
  /** Adds to a number. */
  kvAdd: { ask: { key: Key; amount: number }; reply: number };
  /** Items of the array at the key that match; at most one where `first`. */
  kvMatch: { ask: { key: Key; criteria: Body; first: boolean }; reply: Body };
  /** Removes the items that match from the array at the key. */
  kvRemove: { ask: { key: Key; criteria: Body }; reply: Body };
  /** The value at the key with the version of its record, 0 without one. */
  kvGetVersion: {
    ask: { key: Key };
    reply: { readonly body: Body | undefined; readonly version: number };
  };
  /** Replaces the value at the key unless its record has another version by now. */
  kvReplace: { ask: { key: Key; body: Body; version: number }; reply: boolean };
  /** What a change would make of the record of its key; nothing is stored. */
  kvPreview: {
    ask: { change: KeyValueChange };
    reply: {
      /** Of the change. */
      readonly reply: unknown;
      /** The value of the record after it; `undefined` where it changes nothing. */
      readonly body: Body | undefined;
      /** Of the record before it, 0 without one. */
      readonly version: number;
    };
  };
  kvKeys: { ask: object; reply: string[] };
  kvEntries: { ask: object; reply: { readonly keys: string[]; readonly bodies: Body[] } };
}

/** What they do. */
export const KEY_VALUE_OPERATIONS = {
  kvSet: READING_EDIT,
  kvGet: READS,
  kvDelete: READING_EDIT,
  kvPush: READING_EDIT,
  kvAdd: READING_EDIT,
  kvMatch: READS,
  kvRemove: READING_EDIT,
  kvGetVersion: READS,
  kvReplace: READING_EDIT | COMPARED,
  kvPreview: READS,
  kvKeys: READS,
  kvEntries: READS,
} satisfies Readonly<Record<keyof KeyValueOperations, number>>;
