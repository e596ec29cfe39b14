import { expect, test } from 'vitest';
import { connect } from '../../src/cairndb.ts';

const code = (error: unknown) => (error as { code?: string }).code;

/** Catastrophic backtracking: each further character doubles the time. */
const endless = { text: /^(a+)+$/ };
/** WebKit aborts a match after a million steps, hence many documents. */
const subjects = Array<string>(3000).fill(`${'a'.repeat(60)}!`);

test('a catastrophic pattern rejects alone; acknowledged changes are kept, waiting calls go on', async () => {
  const connection = connect({ name: `hung query ${Math.random()}`, answer_timeout: 1 });
  const states: string[] = [];
  const errors: (string | undefined)[] = [];
  connection.on('status', ({ state }) => {
    if (states.at(-1) !== state) states.push(state);
  });
  connection.on('error', ({ error }) => errors.push(code(error)));
  const changed: string[] = [];
  connection.on('change', ({ changes }) => changed.push(...changes.map(({ id }) => id)));
  const notes = new connection.Collection<{ text: string | string[] }>({
    name: 'notes',
    type: 'DOCUMENT_BASED',
    save_timeout: 3600,
  });
  const lists = new connection.Collection({ name: 'lists', type: 'KEY_VALUE_BASED' });
  await lists.set('all', subjects);
  await notes.insert({ _id: 'before', text: subjects });

  for (const round of [1, 2]) {
    const hung =
      round === 1
        ? notes.filter(endless).catch(code)
        : lists.remove('all', { $regex: endless.text.source }).catch(code);
    const inserted = notes.insert({ _id: `behind ${round}`, text: 'b' });
    const counted = notes.count();
    const found = notes.find({ text: { $regex: '^b$' } });
    expect(await hung).toBe('query_hung');
    expect(await inserted).toMatchObject({ _id: `behind ${round}` });
    expect(await counted).toBe(1 + round);
    expect(await found).toMatchObject({ _id: 'behind 1' });
    expect(await notes.get('before')).toMatchObject({ text: subjects });
    expect(await lists.get('all')).toEqual(subjects);
    expect(errors).toEqual(Array(round).fill('query_hung'));
    // Events and answers take different ways.
    await expect.poll(() => changed).toContain(`behind ${round}`);
  }
  expect(states).toEqual(['opening', 'open', 'opening', 'open', 'opening', 'open']);

  const closing = [notes.count(endless).catch(code), connection.close()];
  expect(await Promise.all(closing)).toEqual(['query_hung', undefined]);
  expect(connection.status.state).toBe('closed');
});

test('an iteration interrupted by a restart rejects; a dropped collection stays dropped', async () => {
  const connection = connect({ name: `cut off ${Math.random()}`, answer_timeout: 1 });
  const make = (name: string) =>
    new connection.Collection({ name, type: 'DOCUMENT_BASED', activate_drop_method: true });
  const notes = make('notes');
  const dropped = make('dropped');
  await dropped.insert({ _id: 'a' });
  await notes.insertMany(
    Array.from({ length: 1000 }, (_, n) => ({ n, text: subjects.slice(0, 5) })),
  );
  await notes.insert({ text: subjects });
  await dropped.Drop();
  const iteration = notes.each({}, { where: () => true });
  await iteration.next();

  expect(await notes.count(endless).catch(code)).toBe('query_hung');
  const rest = async () => {
    for await (const _ of iteration);
  };
  expect(await rest().catch(code)).toBe('scan_lost');
  expect(await dropped.count().catch(code)).toBe('collection_dropped');
  expect(await make('dropped').count()).toBe(0);
  expect(await notes.count()).toBe(1001);
  await connection.close();
});
