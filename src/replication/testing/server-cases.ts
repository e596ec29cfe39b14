import {
  accept,
  acceptedVersion,
  conflictOf,
  expectSame,
  newKey,
  type OpenedCase,
  PullingClient,
  pushAll,
  rowOf,
} from './remote-bench.ts';

/** Values that documents have, and JSON has not. */
const VALUES = {
  date: new Date(86_400_000),
  map: new Map([['a', new Date(0)]]),
  bytes: new Uint8Array([0, 127, 255]),
  big: 2n ** 70n,
  numbers: [0, -1.5, 1e300, 5e-324, Number.MAX_SAFE_INTEGER],
  texts: ['', '\u2028"\\', 'é\u{1F600}', '$date'],
  nested: { a: [{ b: [] }, null], $date: 'a field' },
};

/** What a server does with rows. */
export const serverCases: readonly OpenedCase[] = [
  {
    name: 'a server without documents has nothing to pull',
    async run({ remote }) {
      const client = new PullingClient(remote);
      const { changes, more, reset } = await client.page();
      expectSame('changes', changes, []);
      expectSame('more', more, false);
      expectSame('reset', reset, undefined);
      // Also from there.
      await client.pull();
      expectSame('documents', client.documents(), {});
      expectSame('reset of the second pull', client.wasReset, false);
    },
  },
  {
    name: 'a document comes back with all its values, and the version of its push',
    async run({ remote }) {
      const version = await accept(remote, rowOf('a', VALUES));
      const client = await new PullingClient(remote).pull();
      expectSame('the document', client.documents(), { a: { _id: 'a', ...VALUES } });
      expectSame('the version', client.held.get('a')?.version, version);
    },
  },
  {
    name: 'ids are any text',
    async run({ remote }) {
      const ids = ['a/b?c=d&e#f', "it's; --", ' x ', 'é\u{1F600}', '%2F', '..', 'x'.repeat(200)];
      await pushAll(remote, ...ids.map((id) => rowOf(id, { id })));
      const { held } = await new PullingClient(remote).pull();
      for (const id of ids)
        expectSame(`the document "${id}"`, held.get(id)?.document, { _id: id, id });
    },
  },
  {
    name: 'compare and set: what does not derive from the newest version is a conflict with it',
    async run({ remote }) {
      const first = await accept(remote, rowOf('a', { n: 1 }));
      const second = await accept(remote, rowOf('a', { n: 2 }, first));
      const results = await pushAll(
        remote,
        rowOf('a', { n: 3 }, first),
        rowOf('a', undefined, first),
      );
      const [blind] = await pushAll(remote, rowOf('a', { n: 5 }));
      for (const result of [...results, blind]) {
        const { id, version, document } = conflictOf('a stale push', result);
        expectSame(
          'the conflict',
          { id, version, document },
          {
            ...{ id: 'a', version: second, document: { _id: 'a', n: 2 } },
          },
        );
      }
      await accept(remote, rowOf('a', { n: 6 }, second));
    },
  },
  {
    name: 'a version that the server has never had is a conflict, whose version can be the base',
    async run({ remote }) {
      const lost = await accept(remote, rowOf('other', {}));
      const [result] = await pushAll(remote, rowOf('a', { n: 1 }, lost));
      const { version, document } = conflictOf('a push on an unknown base', result);
      expectSame('the document of the conflict', document ?? undefined, undefined);
      await accept(remote, rowOf('a', { n: 1 }, version));
    },
  },
  {
    name: 'a deletion is pulled, and its document can be made anew',
    async run({ remote }) {
      const client = new PullingClient(remote);
      const first = await accept(remote, rowOf('a', { n: 1 }));
      await client.pull();
      const second = await accept(remote, rowOf('a', undefined, first));
      await client.pull();
      const gone = client.held.get('a');
      expectSame('the deletion', [gone?.version, gone?.document ?? null], [second, null]);
      await accept(remote, rowOf('a', { n: 2 }));
      expectSame('anew', (await client.pull()).documents(), { a: { _id: 'a', n: 2 } });
    },
  },
  {
    name: 'deleting what is deleted or was never there is accepted',
    async run({ remote }) {
      const first = await accept(remote, rowOf('a', { n: 1 }));
      await accept(remote, rowOf('a', undefined, first));
      await accept(remote, rowOf('a', undefined, first));
      await accept(remote, rowOf('never', undefined));
      expectSame('documents', (await new PullingClient(remote).pull()).documents(), {});
    },
  },
  {
    name: 'each row has its own result, in the order of the rows',
    async run({ remote }) {
      await accept(remote, rowOf('b', { n: 1 }));
      const results = await pushAll(
        remote,
        ...[rowOf('c', { n: 2 }), rowOf('b', { n: 2 }), rowOf('a', { n: 2 })],
      );
      const kinds = results.map((result) => Object.keys(result)[0]);
      expectSame('the results', kinds, ['version', 'conflict', 'version']);
      const { held } = await new PullingClient(remote).pull();
      expectSame('a', held.get('a')?.version, acceptedVersion('a', results[2]));
      expectSame('c', held.get('c')?.version, acceptedVersion('c', results[0]));
    },
  },
  {
    name: 'a push that comes again at once is accepted, and changes nothing',
    async run({ remote }) {
      const first = await accept(remote, rowOf('a', { n: 1 }));
      const row = rowOf('a', { n: 2 }, first);
      const second = await accept(remote, row);
      const [again] = await pushAll(remote, row);
      // A server without keys may answer with the conflict, in which the device knows its state.
      const version = again && 'conflict' in again ? again.conflict.version : undefined;
      expectSame('the version', version ?? acceptedVersion('the second time', again), second);
      const { held } = await new PullingClient(remote).pull();
      expectSame('the version that is pulled', held.get('a')?.version, second);
    },
  },
  {
    name: 'a push that comes again after others is accepted, and answered with the newest state',
    needs: 'keys',
    async run({ remote }) {
      const row = rowOf('a', { n: 1 });
      const first = await accept(remote, row);
      const second = await accept(remote, rowOf('a', { n: 2 }, first));
      const [again] = await pushAll(remote, row);
      expectSame('the answer', again, { version: second, document: { _id: 'a', n: 2 } });
      await accept(remote, rowOf('a', undefined, second));
      acceptedVersion('the push of what is deleted since', (await pushAll(remote, row))[0]);
      expectSame('documents', (await new PullingClient(remote).pull()).documents(), {});
    },
  },
  {
    name: 'the last eight keys of a document are remembered',
    needs: 'keys',
    async run({ remote }) {
      const rows = Array.from({ length: 8 }, (_, n) => rowOf('a', { n }));
      let base: string | undefined;
      for (const row of rows) base = await accept(remote, { ...row, base });
      const [again] = await pushAll(remote, rows[0] as (typeof rows)[0]);
      expectSame('the version', acceptedVersion('the oldest', again), base);
    },
  },
  {
    name: 'operations are applied to the newest state, or are a conflict with it',
    async run({ remote }) {
      const base = await accept(remote, rowOf('a', { n: 1 }));
      const newest = await accept(remote, rowOf('a', { n: 5 }, base));
      const row = rowOf('a', { n: 2 }, base, newKey('counter'));
      const [result] = await pushAll(remote, { ...row, operations: [['$inc', 'n', 1]] });
      const { held } = await new PullingClient(remote).pull();
      const stored = held.get('a');
      if (result && 'conflict' in result) {
        expectSame('the conflict', result.conflict.version, newest);
        expectSame('the document', stored?.document, { _id: 'a', n: 5 });
        return;
      }
      const version = acceptedVersion('the push', result);
      expectSame('the answer', (result as { document?: object }).document, { _id: 'a', n: 6 });
      expectSame('what is stored', stored, { ...stored, version, document: { _id: 'a', n: 6 } });
    },
  },
  {
    name: 'data that were created anew are noticed: the page has reset, and begins from the start',
    needs: 'reset',
    async run({ remote, recreate }) {
      if (!recreate) throw new Error("open() must return recreate(), or lacks: ['reset'].");
      for (const id of ['a', 'b', 'c']) await accept(remote, rowOf(id, {}));
      const client = await new PullingClient(remote).pull();
      await recreate();
      await accept(remote, rowOf('d', { n: 1 }));
      await client.pull();
      expectSame('reset', client.wasReset, true);
      expectSame('documents', client.documents(), { d: { _id: 'd', n: 1 } });
    },
  },
];
