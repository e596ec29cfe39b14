import { copy } from '../codec/capture.ts';
import { toHex } from '../codec/exact-json/base64.ts';
import { asObject } from '../codec/exact-json/json-checks.ts';
import type { WireChange } from '../codec/exact-json/wire-changes.ts';
import { encodeDocument } from '../codec/exact-json/wire-documents.ts';
import { Malformed } from '../errors/errors.ts';
import { compileCriteria } from '../query/criteria/compile-criteria.ts';
import { addFieldOperators } from '../query/criteria/operators/field-operators.ts';
import { rareOperators } from '../query/criteria/operators/rare-operators.ts';
import type { PullAnswer } from '../replication/protocol/http-answers.ts';
import { type Access, type OnFilterFailure, overWire } from './access.ts';
import { RequestFailure, ServerError } from './failures.ts';
import type { Store } from './store.ts';

// Criteria of scopes may have all of them.
addFieldOperators(rareOperators);

/**
 * The criteria of a scope with a value, a string, number or boolean that anybody may have sent;
 * `false`: the user has no right to it. Criteria that differ from those of the last pull move
 * documents in and out.
 */
export type ScopeCriteria = (
  value: unknown,
  request: Request,
) => object | false | Promise<object | false>;

export interface RequestedScope {
  /** Names what it has: other criteria have another one. */
  readonly key: string;
  readonly has: NonNullable<Access['canRead']>;
}

/** Between a checkpoint and the key of a scope. */
const BEHIND = '~';

/** Pages of the store that one answer is made of, at most. */
const MOST_PAGES = 8;

/**
 * The scope that a request asks for.
 *
 * @throws {Malformed}, {RequestFailure} `scope_unknown`, {ServerError} `scope_invalid`
 */
export async function requestedScope(
  asked: unknown,
  request: Request,
  scopes: Readonly<Record<string, ScopeCriteria>>,
  onFailure: OnFilterFailure,
): Promise<RequestedScope> {
  const entries = Object.entries(asObject(asked, '"scope"'));
  const [[name, value] = ['']] = entries;
  if (entries.length !== 1) throw new Malformed('"scope" is not one name with its value');
  // An object would be an operator where criteria take the value as it is.
  if (!['string', 'number', 'boolean'].includes(typeof value))
    throw new Malformed('the value of "scope" is not a string, number or boolean');
  if (!Object.hasOwn(scopes, name))
    throw new RequestFailure(400, 'scope_unknown', 'There is no scope of that name.');
  const given: unknown = await scopes[name]?.(value, request);
  if (given === false) return { key: 'none', has: async () => false };
  try {
    const criteria = copy(given) as object;
    const { test } = compileCriteria(criteria);
    return { key: await keyOf(criteria), has: overWire(name, test, onFailure) };
  } catch (cause) {
    const why = (cause as Error).message;
    throw new ServerError('scope_invalid', `The scope "${name}" returned no criteria: ${why}`, {
      ...{ place: name, cause },
    });
  }
}

async function keyOf(criteria: object): Promise<string> {
  const text = JSON.stringify(encodeDocument({ criteria }));
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return toHex(new Uint8Array(hash, 0, 12));
}

/** The checkpoint of the store in one of a scope. */
export function storedPlace(checkpoint: string): string {
  return checkpoint.split(BEHIND)[0] as string;
}

/**
 * The changes of a scope: documents that it has, and those that have left it. Of others nothing is
 * told, not even that they are there.
 *
 * @param read What the store has behind `after`, where it was read already.
 */
export async function pullScope(
  { store, access, collection }: { store: Store; access: Access; collection: string },
  { key, has }: RequestedScope,
  after: string | undefined,
  limit: number,
  read?: PullAnswer,
): Promise<PullAnswer> {
  const isOther = after !== undefined && after !== `${storedPlace(after)}${BEHIND}${key}`;
  let from = isOther || after === undefined ? undefined : storedPlace(after);
  // Who has nothing yet need not hear what has left.
  let hasNothing = from === undefined;
  let [reset, changes, rejected]: [boolean, WireChange[], NonNullable<PullAnswer['rejected']>] = [
    isOther,
    [],
    [],
  ];
  for (let pages = 1; ; pages++) {
    const page =
      (pages === 1 && !isOther && read) ||
      (await store.pull(collection, from, limit - changes.length));
    if (page.reset) [reset, changes, rejected, hasNothing] = [true, [], [], true];
    const here = new Set<string>();
    for (const { id, document } of page.changes)
      if (document && (await has(id, document)) && (await access.canRead?.(id, document)) !== false)
        here.add(id);
    const others = page.changes.map(({ id }) => id).filter((id) => !here.has(id));
    const asked = hasNothing ? [] : others;
    // What one page has may leave before the next one of this answer is read.
    hasNothing = false;
    const left = new Set(
      store.served ? await store.served(collection, key, [...here], asked) : asked,
    );
    for (const change of page.changes) {
      const { id, version, document } = change;
      if (here.has(id)) changes.push(change);
      else if (left.has(id))
        changes.push({ id, version, deleted: true, ...(document && { left: true }) });
    }
    rejected = [...rejected, ...(page.rejected ?? [])];
    from = page.checkpoint;
    if (page.more && pages < MOST_PAGES && changes.length < limit / 2) continue;
    return {
      ...{ changes, checkpoint: `${from}${BEHIND}${key}`, more: page.more, scoped: true },
      ...(reset && { reset }),
      ...(rejected.length > 0 && { rejected }),
    };
  }
}
