import { type Body, decode, encode } from '../../codec/body.ts';
import { parseKey } from '../../engine/paths/key-path.ts';
import { getAt } from '../../engine/paths/value-path.ts';
import type { KeyValueChange } from '../../engine/protocol/key-value-protocol.ts';
import type { RequestFlags } from '../../engine/protocol/requests.ts';
import type { Coroutine } from '../../engine/scheduling/coroutine.ts';
import { exclusively, request, type Sender } from '../calls/sender.ts';
import { CollectionSchema } from './collection-schema.ts';

/** Passes the values of records through the schema of their collection. Its code loads with the first such collection. */
export class ValueSchema extends CollectionSchema {
  /** @throws {ValueError} `schema_violation`; {OptionError} `schema_failed` */
  encode(value: unknown): Body {
    return encode(this.check(value, 'value'), 'value');
  }

  protected override importedBody(body: Body): Body {
    return this.encode(decode(body));
  }

  /** A value travels as the field `value` of a document. */
  protected override passReplicated({ value }: { readonly value?: unknown }): void {
    this.check(value, 'value');
  }

  /**
   * Makes a change inside of a record whose whole value the schema accepts then. Starts again when somebody was quicker.
   *
   * @returns the value at the key after it; of a delete, whether there was one.
   */
  *change(sender: Sender, change: KeyValueChange, flags?: RequestFlags): Coroutine<unknown> {
    return yield* exclusively(sender, (alone) => this.#change(alone, change, flags));
  }

  *#change(sender: Sender, change: KeyValueChange, flags?: RequestFlags): Coroutine<unknown> {
    for (;;) {
      const made = yield* this.changeOnce(sender, change, undefined, flags);
      if (made) return made.value;
    }
  }

  /**
   * @param expected The version of the record that the change derives from.
   * @returns `undefined` if the record has another version.
   */
  *changeOnce(
    sender: Sender,
    change: KeyValueChange,
    expected?: number,
    flags?: RequestFlags,
  ): Coroutine<{ readonly value: unknown } | undefined> {
    const [name, ...path] = parseKey(change.key);
    const isDelete = change.op === 'kvDelete';
    const preview = { op: 'kvPreview', change, ...flags } as const;
    const { reply, body, version } = yield* request(sender, preview);
    if (expected !== undefined && version !== expected) return undefined;
    // Nothing to remove or delete.
    if (!body) return { value: isDelete ? reply : decode(reply as Body) };
    const root = this.encode(decode(body));
    const replacing = { op: 'kvReplace', key: [name], body: root, version } as const;
    if (!(yield* request(sender, replacing))) return undefined;
    return { value: isDelete || getAt(decode(root), path) };
  }
}
