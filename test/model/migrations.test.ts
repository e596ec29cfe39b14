import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { DocumentCollection } from '../../src/index.ts';
import { openClient } from '../engine/engine-client.ts';
import { FakeClock } from '../engine/fake-clock.ts';
import { faultyDriver } from '../storage/faulty-driver.ts';

type Things = DocumentCollection<any>;

/** What a step does to a document; `fail` only where it has this number. */
type Effect = { readonly kind: 'add' | 'remove' | 'fail'; readonly n: number };

const VERSIONS = 4;

const effects = fc.array(
  fc.record({
    kind: fc.constantFrom('add' as const, 'add', 'remove', 'fail'),
    n: fc.integer({ min: 0, max: 8 }),
  }),
  { minLength: VERSIONS - 1, maxLength: VERSIONS - 1 },
);

const commands = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        do: fc.constantFrom('put' as const, 'put', 'delete', 'archive'),
        id: fc.nat(5),
        n: fc.nat(8),
      }),
    },
    { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('backup' as const, 'reload') }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('load' as const), pick: fc.nat(9) }) },
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constant('open' as const),
        version: fc.integer({ min: 1, max: VERSIONS }),
      }),
    },
  ),
  { maxLength: 30 },
);

/** Documents as text by id, in the order of insertion. */
type State = ReadonlyMap<string, { readonly n: number; readonly archived: boolean }>;

/** The documents after the steps; `undefined` where one fails. */
function migrated(state: State, all: readonly Effect[], from: number, to: number) {
  const result = new Map(state);
  for (const [id, { n: first, archived }] of state) {
    let n = first;
    for (const { kind, n: own } of all.slice(from - 1, to - 1)) {
      if (kind === 'add') n += own;
      else if (n === own && kind === 'fail') return undefined;
      else if (n === own) {
        result.delete(id);
        break;
      }
    }
    if (result.has(id)) result.set(id, { n, archived });
  }
  return result;
}

const stepOf =
  ({ kind, n: own }: Effect) =>
  (document: Record<string, any>) => {
    if (kind === 'add') return { ...document, n: document.n + own };
    if (document.n !== own) return document;
    if (kind === 'fail') throw new Error('This one fails.');
    return undefined;
  };

const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    ({ code }: { code: string }) => code,
  );

async function contents(things: Things): Promise<State> {
  const found = await things.filter({}, { archived: true });
  return new Map(found.map(({ _id, _archived, n }) => [_id, { n, archived: _archived }]));
}

test('opening, changing, saving and loading with code of all versions does what a model does', async () => {
  await fc.assert(
    fc.asyncProperty(effects, commands, fc.boolean(), async (all, script, caching) => {
      const driver = faultyDriver();
      const migrate = all.map(stepOf);
      let { client } = openClient(driver, new FakeClock());
      const open = (version: number): Things => {
        const steps = migrate.slice(0, version - 1).map((step, index) => [index + 2, step]);
        return new client.Collection<any>({
          ...{ name: 'things', type: 'DOCUMENT_BASED', caching, backup_retention_time: -1 },
          ...{ version, migrate: Object.fromEntries(steps) },
        });
      };
      let own = 1;
      let things = open(own);
      let stored = 1;
      let state: State = new Map();
      const backups = new Map<string, { readonly state: State; readonly version: number }>();
      await things.insert({ _id: 'first', n: 0 });
      state = new Map([['first', { n: 0, archived: false }]]);
      /** Why calls of the handle reject. */
      let refusal: string | undefined;
      /** Takes in the backup that was made before a replacement. */
      const noteSafety = async (before: State, version: number) => {
        const names = (await things.listBackups()).map(({ name }) => name);
        const added = names.filter((name) => !backups.has(name));
        expect(added.length).toBe(1);
        backups.set(added[0] as string, { state: before, version });
      };
      const enter = async (version: number) => {
        own = version;
        things = open(own);
        const next = own > stored ? migrated(state, all, stored, own) : state;
        refusal = own < stored ? 'schema_newer' : next ? undefined : 'migration_failed';
        expect(await codeOf(things.ready)).toBe(refusal);
        if (refusal || own === stored) return;
        await noteSafety(state, stored);
        [state, stored] = [next as State, own];
      };
      for (const command of script) {
        switch (command.do) {
          case 'open':
            await enter(command.version);
            break;
          case 'reload':
            await client.close();
            client = openClient(driver, new FakeClock()).client;
            await enter(own);
            break;
          case 'backup': {
            if (refusal) break;
            backups.set(await things.createBackup(), { state, version: stored });
            break;
          }
          case 'load': {
            if (refusal === 'migration_failed') break;
            const names = [...backups.keys()];
            const name = names[command.pick % Math.max(names.length, 1)];
            if (name === undefined) break;
            const { state: kept, version } = backups.get(name) as { state: State; version: number };
            const next = version > own ? undefined : migrated(kept, all, version, own);
            const expected = version > own ? 'schema_newer' : next ? undefined : 'migration_failed';
            expect(await codeOf(things.loadBackup(name))).toBe(expected);
            if (expected) break;
            await noteSafety(state, stored);
            [state, stored, refusal] = [next as State, own, undefined];
            break;
          }
          default: {
            const { id: number, n } = command;
            const id = `d${number}`;
            const call =
              command.do === 'put'
                ? things.upsert({ _id: id, n })
                : command.do === 'delete'
                  ? things.delete(id)
                  : things.archive(id);
            expect(await codeOf(call)).toBe(refusal);
            if (refusal) break;
            const changed = new Map(state);
            const before = state.get(id);
            if (command.do === 'put') changed.set(id, { n, archived: before?.archived ?? false });
            else if (command.do === 'delete') changed.delete(id);
            else if (before) changed.set(id, { ...before, archived: true });
            state = changed;
          }
        }
        if (!refusal) expect([...(await contents(things))]).toEqual([...state]);
      }
      await client.close();
    }),
  );
});
