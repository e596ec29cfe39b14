import { expect, test } from 'vitest';
import { Engine } from '../../src/engine/engine.ts';
import type { Session } from '../../src/engine/sessions/session.ts';
import type { Request } from '../../src/protocol/requests.ts';
import { type CollectionSettings, plainSettings } from '../../src/protocol/settings.ts';
import type { IndexDefinition } from '../../src/query/index/index-definition.ts';
import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';
import { fc, runs } from '../setup/properties.ts';
import { FakeClock } from './fake-clock.ts';

const index = (field: string, unique = false): IndexDefinition => {
  return { name: field, fields: [field], unique, multi: false };
};
const INDEXES = [index('a'), index('b'), index('b', true), index('c')];
const FIELDS = ['a', 'b', 'c'];
const HANDLE = 1;

/** One step of a random sequence. */
type Step =
  | { readonly do: 'open'; readonly declared: readonly IndexDefinition[] }
  | { readonly do: 'leave' | 'insert' | 'update' | 'delete'; readonly which: number }
  | { readonly do: 'save' }
  | { readonly do: 'reload' };

const which = fc.nat(5);
const steps = fc.array(
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({ do: fc.constant('open' as const), declared: fc.subarray(INDEXES) }),
    },
    {
      weight: 5,
      arbitrary: fc.record({
        do: fc.constantFrom('leave', 'insert', 'insert', 'update', 'delete'),
        which,
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('save', 'reload') }) },
  ),
  { maxLength: 25 },
) as fc.Arbitrary<Step[]>;

interface OpenSession {
  readonly session: Session;
  readonly declared: readonly IndexDefinition[];
}

/** The model: documents in a map, declarations in a list, no index. */
class Oracle {
  readonly documents = new Map<string, number>();
  open: OpenSession[] = [];
  /** The fields that have an index, and those whose index is unique. */
  indexed = new Set<string>();
  unique = new Set<string>();

  /** Whether the handle may be opened; opening adds its indexes and drops undeclared ones. */
  admits(declared: readonly IndexDefinition[]): boolean {
    const all = [...this.open.flatMap((one) => one.declared), ...declared];
    const isUnique = ({ unique, name }: IndexDefinition) => unique && !this.unique.has(name);
    const admitted = !declared.some((one) => isUnique(one) && this.hasDuplicates(one.name));
    const kept = admitted ? all : this.open.flatMap((one) => one.declared);
    this.indexed = new Set(kept.map(({ name }) => name));
    this.unique = new Set(kept.filter(({ unique }) => unique).map(({ name }) => name));
    return admitted;
  }

  /** All fields of a document have the same value. */
  hasDuplicates(field: string): boolean {
    return field === 'b' && new Set(this.documents.values()).size < this.documents.size;
  }

  accepts(id: string, value: number): boolean {
    if (this.unique.has('b'))
      for (const [other, has] of this.documents) if (other !== id && has === value) return false;
    this.documents.set(id, value);
    return true;
  }
}

test('random opens, closes and changes: exactly the declared indexes exist, and their answers are correct', {
  timeout: 60_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(steps, fc.boolean(), async (sequence, caching) => {
      const driver = memoryDriver();
      const start = async () =>
        new Engine({
          ...{ storage: await driver.open('db', { damaged: () => undefined }) },
          ...{ storageKind: 'memory', durability: 'relaxed', clock: new FakeClock() },
          newId: () => 'x',
        });
      let engine = await start();
      const oracle = new Oracle();
      const ask = async ({ session }: OpenSession, request: object): Promise<any> => {
        const { values, failures } = await session.execute([
          { handle: HANDLE, ...request } as Request,
        ]);
        for (const error of failures?.values() ?? []) throw error;
        return values[0];
      };
      const open = async (declared: readonly IndexDefinition[]) => {
        const plain = plainSettings('notes', 'DOCUMENT_BASED');
        const settings: CollectionSettings = { ...plain, caching, indexes: declared };
        const one = { session: engine.join(() => undefined), declared };
        const opened = await ask(one, { op: 'open', settings }).then(
          () => true,
          () => false,
        );
        expect(opened).toBe(oracle.admits(declared));
        if (opened) oracle.open.push(one);
        else one.session.leave();
      };
      for (const step of sequence) {
        if (step.do === 'open') await open(step.declared);
        else if (step.do === 'save') await engine.join(() => undefined).save();
        else if (step.do === 'reload') {
          await engine.join(() => undefined).save();
          await engine.stop();
          engine = await start();
          const [first] = oracle.open;
          oracle.open = [];
          oracle.indexed.clear();
          oracle.unique.clear();
          if (first) await open(first.declared);
        } else {
          const at = step.which % Math.max(1, oracle.open.length);
          const one = oracle.open[at];
          if (!one) continue;
          const id = `${step.which}`;
          if (step.do === 'leave') {
            one.session.leave();
            oracle.open.splice(at, 1);
          } else if (step.do === 'delete') {
            await ask(one, { op: 'delete', id });
            oracle.documents.delete(id);
          } else {
            const value = step.do === 'insert' ? step.which % 4 : 0;
            const body = JSON.stringify({ a: value, b: value, c: value });
            const done = await ask(one, { op: 'upsert', id, body }).then(
              () => true,
              () => false,
            );
            expect(done).toBe(oracle.accepts(id, value));
          }
        }
        const [reader] = oracle.open;
        if (!reader) continue;
        for (const field of FIELDS) {
          const selection = { criteria: { [field]: 0 }, archived: false };
          const zeros = [...oracle.documents.values()].filter((value) => value === 0).length;
          expect(await ask(reader, { op: 'count', ...selection })).toBe(zeros);
          const { plan } = await ask(reader, { op: 'explain', ...selection });
          // Scanning a few cached documents costs less than an index.
          if (!caching)
            expect([field, plan.kind]).toEqual([
              field,
              oracle.indexed.has(field) ? 'index' : 'scan',
            ]);
        }
      }
      await engine.stop();
    }),
    runs(300),
  );
});
