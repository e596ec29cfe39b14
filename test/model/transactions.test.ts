import { expect, test } from 'vitest';
import {
  Database,
  type DocumentCollection,
  type KeyValueCollection,
  type Transaction,
} from '../../src/index.ts';
import { fc, runs } from '../setup/properties.ts';
import {
  copyOf,
  ModelTransaction,
  type Operation,
  perform,
  type Row,
  type Scope,
  type State,
  type Touched,
  touchedBetween,
} from './transaction-model.ts';

const id = fc.constantFrom('a', 'b', 'c', 'd');
const key = fc.constantFrom('x', 'y', 'z');
const by = fc.integer({ min: 1, max: 3 });
const n = fc.integer({ min: 0, max: 9 });
const g = fc.constantFrom('red', 'blue');
const scope: fc.Arbitrary<Scope> = fc.oneof(
  fc.record({ g }),
  fc.record({ n: fc.record({ $gte: n }) }),
  fc.record({ g, n: fc.record({ $gte: n }) }),
  fc.constant({}),
);

const operation: fc.Arbitrary<Operation> = fc.oneof(
  fc.record({ op: fc.constant('get' as const), id }),
  fc.record({ op: fc.constantFrom('filter' as const, 'count', 'least', 'deleteMany'), scope }),
  fc.record({ op: fc.constant('patchMany' as const), scope, by }),
  fc.record({ op: fc.constant('put' as const), id, row: fc.record({ n, g }) }),
  fc.record({ op: fc.constant('increase' as const), id, by }),
  fc.record({ op: fc.constant('delete' as const), id }),
  fc.record({ op: fc.constantFrom('valueOf' as const, 'deleteValue'), key }),
  fc.record({ op: fc.constant('add' as const), key, by }),
  fc.record({ op: fc.constant('keys' as const) }),
);

/** A step of one of the transactions, by its number, or of nobody's. */
const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ by: fc.nat(2), operation }) },
  { weight: 3, arbitrary: fc.record({ by: fc.constant('outside' as const), operation }) },
  {
    weight: 3,
    arbitrary: fc.record({
      by: fc.nat(2),
      end: fc.constantFrom('commit' as const, 'commit', 'throw'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ by: fc.constant('save' as const) }) },
);

/** The collections, or a transaction's view of them. */
interface Subject {
  readonly rows: Pick<
    DocumentCollection<Row>,
    'get' | 'filter' | 'count' | 'find' | 'deleteMany' | 'patchMany' | 'upsert' | 'patch' | 'delete'
  >;
  readonly values: Pick<KeyValueCollection<number>, 'get' | 'delete' | 'increase' | 'keys'>;
}

const plain = ({ n, g }: Row): Row => ({ n, g });

async function performOn({ rows, values }: Subject, operation: Operation): Promise<unknown> {
  switch (operation.op) {
    case 'get': {
      const row = await rows.get(operation.id);
      return row && plain(row);
    }
    case 'filter': {
      const found = await rows.filter(operation.scope, { sort: { _id: 1 } });
      return found.map((row) => [row._id, plain(row)]);
    }
    case 'count':
      return rows.count(operation.scope);
    case 'least':
      return (await rows.find(operation.scope, { sort: { n: 1, _id: 1 } }))?._id;
    case 'deleteMany':
      return rows.deleteMany(operation.scope);
    case 'patchMany':
      return rows.patchMany(operation.scope, { $inc: { n: operation.by } });
    case 'put':
      await rows.upsert({ _id: operation.id, ...operation.row });
      return undefined;
    case 'increase':
      return (await rows.patch(operation.id, { $inc: { n: operation.by } })) !== undefined;
    case 'delete':
      return rows.delete(operation.id);
    case 'valueOf':
      return values.get(operation.key);
    case 'deleteValue':
      return values.delete(operation.key);
    case 'add':
      return values.increase(operation.key, operation.by);
    case 'keys':
      return (await values.keys()).sort();
  }
}

/** A transaction whose function waits for the test. */
class SteppedTransaction {
  readonly touched: Touched[] = [];
  model: ModelTransaction | undefined;
  readonly outcome: Promise<unknown>;
  #view: Promise<Subject>;
  #end: (error?: Error) => void = () => undefined;

  constructor(db: Database, { rows, values }: Collections) {
    const end = new Promise<void>((resolve, reject) => {
      this.#end = (error) => (error ? reject(error) : resolve());
    });
    let begin: (tx: Transaction) => void = () => undefined;
    this.#view = new Promise<Transaction>((resolve) => {
      begin = resolve;
    }).then((tx) => ({ rows: tx(rows), values: tx(values) }));
    const run = (tx: Transaction) => {
      begin(tx);
      return end;
    };
    this.outcome = db.transaction(run, { retries: 0 }).then(
      () => 'committed',
      (error: { code?: string; message: string }) => error.code ?? error.message,
    );
  }

  async perform(operation: Operation): Promise<unknown> {
    return performOn(await this.#view, operation);
  }

  async end(error?: Error): Promise<unknown> {
    await this.#view;
    this.#end(error);
    return this.outcome;
  }
}

interface Collections {
  readonly rows: DocumentCollection<Row>;
  readonly values: KeyValueCollection<number>;
}

test.each([
  [true, []],
  [false, []],
  [true, ['g', 'n']],
  [false, ['n', 'g']],
])(
  'transactions see snapshots, and commit what can stand in one order: caching %s, indexes %j',
  async (caching, fields) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        const db = new Database({ name: 'model', storage: 'memory' });
        const indexes = fields.map((field) => ({ fields: [field] })) as never;
        const collections: Collections = {
          rows: new db.Collection<Row>({ name: 'rows', type: 'DOCUMENT_BASED', caching, indexes }),
          values: new db.Collection<number>({ name: 'values', type: 'KEY_VALUE_BASED', caching }),
        };
        const state: State = { rows: new Map(), values: new Map() };
        const open = new Map<number, SteppedTransaction>();
        /** Makes a change of the model, and tells the open transactions. */
        const change = (make: () => unknown): unknown => {
          const before = copyOf(state);
          const result = make();
          const touched = touchedBetween(before, state);
          for (const transaction of open.values()) transaction.touched.push(...touched);
          return result;
        };
        for (const one of steps) {
          if (one.by === 'save') await db.save();
          else if (one.by === 'outside') {
            const expected = change(() => perform(state, one.operation));
            expect(await performOn(collections, one.operation)).toEqual(expected);
          } else if ('operation' in one) {
            const transaction = open.get(one.by) ?? new SteppedTransaction(db, collections);
            open.set(one.by, transaction);
            if (!transaction.model) transaction.touched.length = 0;
            transaction.model ??= new ModelTransaction(state);
            const expected = transaction.model.perform(one.operation);
            expect(await transaction.perform(one.operation)).toEqual(expected);
          } else await finish(one.by, one.end);
        }
        for (const number of [...open.keys()]) await finish(number, 'commit');
        const everything = { op: 'filter', scope: {} } as const;
        expect(await performOn(collections, everything)).toEqual(perform(state, everything));
        expect(await performOn(collections, { op: 'keys' })).toEqual(
          perform(state, { op: 'keys' }),
        );
        await db.close();

        async function finish(number: number, end: 'commit' | 'throw'): Promise<void> {
          const transaction = open.get(number);
          if (!transaction?.model) return;
          open.delete(number);
          const { model, touched } = transaction;
          if (end === 'throw') {
            expect(await transaction.end(new Error('thrown'))).toBe('thrown');
            return;
          }
          const outcome = await transaction.end();
          // What only reads has seen one snapshot, and is never compared.
          if (model.mustCommit(touched) || !model.changes) expect(outcome).toBe('committed');
          else if (model.mustConflict(state)) expect(outcome).toBe('transaction_conflict');
          if (outcome === 'committed') change(() => model.commit(state));
          else expect(outcome).toBe('transaction_conflict');
        }
      }),
      runs(80),
    );
  },
);
