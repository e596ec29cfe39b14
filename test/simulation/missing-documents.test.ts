import { expect, test } from 'vitest';
import { Random } from '../setup/random.ts';
import { ReplicationServer } from './replication-server.ts';

test('a server accepts a new document with the version that it gave for a missing one', () => {
  const server = new ReplicationServer(new Random(1), {
    page: 10,
    commit: 0,
    repeats: false,
    changes: false,
    refuses: false,
    merges: false,
    keys: 'sent',
  });
  const [gone] = server.push([{ id: 'c', base: undefined, document: undefined, key: 'r.1' }]);
  const { version } = gone as { readonly version: string };
  const [made] = server.push([{ id: 'c', base: version, document: { _id: 'c' }, key: 'r.2' }]);
  expect(made).toHaveProperty('version');
  expect(server.documents().get('c')).toEqual({ _id: 'c' });
});

test('a server without keys makes a repeated push anew, which undoes the deletion in between', () => {
  const server = new ReplicationServer(new Random(1), {
    ...{ page: 10, commit: 0, repeats: false, changes: false, refuses: false, merges: false },
    keys: 'none',
  });
  const insert = { id: 'c', base: undefined, document: { _id: 'c' }, key: 'r.1' };
  const [made] = server.push([insert]);
  const { version } = made as { readonly version: string };
  server.push([{ id: 'c', base: version, document: undefined, key: 'q.1' }]);
  expect([...server.late]).toEqual([]);
  server.push([insert]);
  expect(server.documents().get('c')).toEqual({ _id: 'c' });
  expect([...server.late]).toEqual(['c']);
});

test('a push that is refused as a whole lets no reader pass the next one', () => {
  const commits: (() => void)[] = [];
  const server = new ReplicationServer(
    new Random(1),
    {
      ...{ page: 10, commit: 1000, repeats: false, changes: false, refuses: false, merges: false },
      keys: 'sent',
    },
    (_, call) => commits.push(call),
  );
  const row = { id: 'c', base: undefined, document: { _id: 'c' }, key: 'r.1' };
  for (const rows of [[], [row]]) server.begin(rows, (first) => server.push(rows, false, first));
  let after: string | undefined;
  const seen: string[] = [];
  for (const commit of commits) {
    commit();
    const { changes, checkpoint } = server.pull(after, 10);
    seen.push(...changes.map(({ id }) => id));
    after = checkpoint;
  }
  expect(seen).toEqual(['c']);
});
