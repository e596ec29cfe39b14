import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { DocumentCollection, StandardSchema } from '../../src/index.ts';
import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';
import { openClient } from '../engine/engine-client.ts';

interface Item {
  n: number;
  tag?: string;
}

/** What the schema makes of a document: `n` up to 9, 0 by default, `tag` trimmed, nothing else. */
function passed({ n = 0, tag }: Partial<Item>): Item | undefined {
  if (n > 9) return undefined;
  return tag === undefined ? { n } : { n, tag: tag.trim() };
}

const schema: StandardSchema<Partial<Item>, Item> = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (given) => {
      const value = passed(given as Partial<Item>);
      return value ? { value } : { issues: [{ message: 'over 9', path: ['n'] }] };
    },
  },
};

const item = fc.record(
  { n: fc.nat(11), tag: fc.constantFrom(' a', 'b '), more: fc.boolean() },
  { requiredKeys: [] },
);
const id = fc.constantFrom('a', 'b', 'c', 'd');
const listed = fc.array(fc.tuple(id, item), { minLength: 1, maxLength: 3 });
const put = fc.constantFrom('insert' as const, 'upsert', 'update');

const commands = fc.array(
  fc.oneof(
    fc.record({ do: put, id, item }),
    fc.record({ do: fc.constant('upsertMany' as const), listed }),
    fc.record({ do: fc.constantFrom('set' as const, 'modify'), id, item }),
    fc.record({
      do: fc.constantFrom('add' as const, 'addAll'),
      id,
      by: fc.integer({ min: -3, max: 4 }),
    }),
    fc.record({ do: fc.constantFrom('unset' as const, 'delete'), id }),
    // By a handle without the schema: later patches have to mend it.
    fc.record({ do: fc.constant('foreign' as const), id, n: fc.nat(12) }),
    fc.record({ do: fc.constant('await' as const) }),
  ),
  { maxLength: 40 },
);
type Command = (typeof commands extends fc.Arbitrary<infer T> ? T : never)[number];
type State = Map<string, Partial<Item>>;

/** Changes the model as a call must. @returns whether the call is refused. */
function apply(state: State, command: Command): boolean {
  const replace = (key: string, document: Partial<Item>): boolean => {
    const made = passed(document);
    if (made) state.set(key, made);
    return !made;
  };
  if (command.do === 'await') return false;
  if (command.do === 'upsertMany' || command.do === 'addAll') {
    const all =
      command.do === 'upsertMany'
        ? command.listed
        : [...state].map(([key, it]) => [key, { ...it, n: (it.n ?? 0) + command.by }] as const);
    if (all.some(([, document]) => !passed(document))) return true;
    for (const [key, document] of all) replace(key, document);
    return false;
  }
  const before = state.get(command.id);
  switch (command.do) {
    case 'foreign':
      state.set(command.id, { n: command.n });
      return false;
    case 'insert':
      return before ? true : replace(command.id, command.item);
    case 'upsert':
      return replace(command.id, command.item);
    case 'delete':
      state.delete(command.id);
      return false;
    case 'update':
      // What is refused anywhere is refused here.
      return before ? replace(command.id, command.item) : !passed(command.item);
    case 'set':
    case 'modify':
      return before ? replace(command.id, { ...before, ...command.item }) : false;
    case 'add':
      return before ? replace(command.id, { ...before, n: (before.n ?? 0) + command.by }) : false;
    case 'unset':
      return before ? replace(command.id, { ...before, n: 0 }) : false;
  }
}

function call(items: DocumentCollection<any>, plain: DocumentCollection<any>, command: Command) {
  switch (command.do) {
    case 'await':
      return undefined;
    case 'insert':
      return items.insert({ ...command.item, _id: command.id });
    case 'upsert':
      return items.upsert({ ...command.item, _id: command.id });
    case 'update':
      return items.update(command.id, command.item);
    case 'upsertMany':
      return items.upsertMany(command.listed.map(([_id, own]) => ({ ...own, _id })));
    case 'set':
      return items.patch(command.id, { ...command.item, _id: command.id });
    case 'modify':
      return items.modify(command.id, (found) => ({ ...found, ...command.item }));
    case 'add':
      return items.patch(command.id, { $inc: { n: command.by } });
    case 'addAll':
      return items.patchMany({}, { $inc: { n: command.by } });
    case 'unset':
      return items.patch(command.id, { $unset: { n: true } });
    case 'delete':
      return items.delete(command.id);
    case 'foreign':
      return plain.upsert({ _id: command.id, n: command.n });
  }
}

test.each([true, false])(
  'calls behind a schema do what a model does, in the order in which they were made; caching: %s',
  async (caching) => {
    await fc.assert(
      fc.asyncProperty(commands, async (all) => {
        const { client } = openClient(memoryDriver());
        const options = { name: 'items', type: 'DOCUMENT_BASED', caching } as const;
        const items = new client.Collection({ ...options, schema }) as DocumentCollection<any>;
        const plain = new client.Collection(options) as DocumentCollection<any>;
        const state: State = new Map();
        const refusals: boolean[] = [];
        const calls: Promise<boolean>[] = [];
        const settled = async () => expect(await Promise.all(calls)).toEqual(refusals);
        for (const command of all) {
          // The function of `modify` may run after later calls.
          if (command.do === 'modify' || command.do === 'await') await settled();
          refusals.push(apply(state, command));
          const made = Promise.resolve(call(items, plain, command));
          calls.push(
            made.then(
              () => false,
              () => true,
            ),
          );
          if (command.do === 'modify') await settled();
        }
        await settled();
        const stored = (await plain.filter({})).map(({ _id, _updated, _archived, ...own }) => [
          _id,
          own,
        ]);
        expect(new Map(stored as [string, Item][])).toEqual(state);
        await client.close();
      }),
    );
  },
);
