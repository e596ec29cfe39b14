import { beforeEach, describe, expect, test } from 'vitest';
import type { EngineEvent } from '../../src/protocol/event-protocol.ts';
import { settled } from './fake-clock.ts';
import { createBackup, type LinkedRig, openLinked } from './linked-collections.ts';

const HOUR = 3_600_000;

let rig: LinkedRig;
let db: LinkedRig['db'];
let a: LinkedRig['a'];
let b: LinkedRig['b'];

beforeEach(async () => {
  rig = await openLinked();
  ({ db, a, b } = rig);
});

describe('linked collections are saved in one write', () => {
  test('when the timer of one is due', async () => {
    b = await db.open('slow', { save_timeout: 60 });
    db.change('t', a, b);
    await db.advance(1000);
    expect(rig.saves()).toEqual(['a+slow']);
    expect(db.collections.backlog.unsaved).toBe(0);
    await db.advance(60_000);
    expect(rig.saves()).toEqual(['a+slow']);
  });

  test('when one has save_directly_after changes', async () => {
    const c = await db.open('c', { save_directly_after: 2 });
    db.change('t', a, c);
    await settled();
    expect(rig.saves()).toEqual([]);
    db.changeAlone('u', c);
    await settled();
    expect(rig.saves()).toEqual(['a+c']);
  });

  test('early, where one is saved early', async () => {
    const c = await db.open('c', { save_early: true });
    db.change('t', a, c);
    await db.advance(0);
    expect(rig.saves()).toEqual(['a+c']);
  });

  test('when one is saved by request', async () => {
    db.change('t', a, b);
    await b.flush();
    expect(rig.saves()).toEqual(['a+b']);
  });

  test('when all are saved', async () => {
    db.change('t', a, b);
    await db.collections.save();
    expect(rig.saves()).toEqual(['a+b']);
  });

  test('with the backup of one', async () => {
    db.change('t', a, b);
    await createBackup(b);
    expect(rig.saves()).toEqual(['a+b']);
    const [snapshot] =
      rig.driver.batches.at(-1)?.filter(({ store }) => store === 'snapshots') ?? [];
    expect(snapshot).toMatchObject({ value: { collection: 'b', documents: 1 } });
  });

  test('with the backups of both at the same time', async () => {
    db.change('t', a, b);
    await Promise.all([createBackup(a), createBackup(b)]);
    expect(rig.saves()).toEqual(['a+b']);
    for (const one of [a, b])
      expect(await one.execute({ op: 'listBackups', handle: 1 })).toMatchObject([{ documents: 1 }]);
  });

  test('when everything is exported, twice at the same time', async () => {
    db.change('t', a, b);
    await Promise.all([db.export(), db.export()]);
    expect(rig.saves()).toEqual(['a+b']);
  });

  test('and so are those linked through another', async () => {
    const c = await db.open('c');
    const d = await db.open('d');
    db.change('t', a, b);
    db.change('u', c, d);
    db.change('v', d, a);
    await c.flush();
    expect(rig.saves()).toEqual(['a+b+c+d']);
  });
});

describe('a joint save', () => {
  test('leaves later changes to the next, linked anew', async () => {
    const c = await db.open('c');
    const release = rig.hang();
    db.change('t', a, b);
    const first = a.flush();
    await settled();
    db.change('u', b, c);
    db.changeAlone('v', a);
    release();
    await first;
    expect(db.collections.backlog.unsaved).toBe(3);
    await db.advance(1000);
    expect(rig.saves()).toEqual(['a+b', 'b+c', 'a']);
    expect(await rig.afterCrash('a', 'b', 'c')).toEqual({ a: ['t', 'v'], b: ['t', 'u'], c: ['u'] });
  });

  test('does not include collections that are not linked, nor wait for them', async () => {
    const c = await db.open('c');
    db.changeAlone('slow', c);
    const release = rig.hang();
    const slow = c.flush();
    await settled();
    rig.gate.beforeWrite = async () => undefined;
    db.change('t', a, b);
    await a.flush();
    expect(rig.saves()).toEqual(['a+b']);
    release();
    await slow;
    expect(rig.saves()).toEqual(['a+b', 'c']);
  });

  test('waits until none of its collections is being written to', async () => {
    db.changeAlone('before', b);
    const release = rig.hang();
    const earlier = b.flush();
    await settled();
    db.change('t', a, b);
    const asked = Promise.all([a.flush(), b.flush(), createBackup(a), db.collections.save()]);
    await db.advance(HOUR);
    expect(rig.gate.writes).toBe(1);
    release();
    await Promise.all([earlier, asked]);
    expect(rig.saves()).toEqual(['b', 'a+b']);
  });

  test('that waits for another write begins once that has ended, without any request', async () => {
    b = await db.open('slow', { save_timeout: 60 });
    db.changeAlone('before', b);
    const release = rig.hang();
    const earlier = b.flush();
    await settled();
    db.change('t', a, b);
    await db.advance(1000);
    release();
    await settled();
    await db.advance(0);
    await earlier;
    expect(rig.saves()).toEqual(['slow', 'a+slow']);
  });

  test('early waits until the changes of all its collections are answered', async () => {
    const early = await db.open('early', { save_early: true });
    let answer = (): void => undefined;
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    db.changeAlone('unanswered', b);
    b.saves.holdUntil(answered);
    db.changeAlone('before', early);
    db.change('t', early, b);
    await db.advance(900);
    expect(rig.saves()).toEqual([]);
    answer();
    await settled();
    await db.advance(0);
    expect(rig.saves()).toEqual(['b+early']);
  });

  test('leaves out what has nothing unsaved', async () => {
    db.change('t', a, b);
    b.execute({ op: 'delete', handle: 1, id: 't' });
    await a.flush();
    expect(rig.saves()).toEqual(['a']);
  });

  test('reports each collection as saved', async () => {
    const counts: unknown[] = [];
    const emit = (event: EngineEvent) => {
      if (event.type === 'save') counts.push(event.detail);
    };
    db.events.add({
      client: '',
      watching: false,
      emit,
      tellReleased: () => undefined,
      handles: { all: [] },
    });
    db.change('t', a, b);
    db.changeAlone('u', b);
    await db.collections.save();
    expect(counts).toMatchObject([
      { collection: 'a', changes: 1 },
      { collection: 'b', changes: 2 },
    ]);
  });
});

describe('an import', () => {
  const call = 7;

  function startImport(): unknown {
    const importing = a.execute({ op: 'importBackup', handle: 1, call, merge: true });
    const section = { collection: 'a', type: 'DOCUMENT_BASED', options: {} } as const;
    const header = { ...section, created_at: 0, documents: 0 };
    a.execute({ op: 'importPart', handle: 1, call, part: { kind: 'header', header } });
    return importing;
  }

  /** Begins an import, which keeps all other writes away until it ends. */
  async function beginImport(): Promise<() => Promise<void>> {
    const importing = startImport();
    await settled();
    return async () => {
      a.execute({ op: 'abort', handle: 1, call });
      await expect(importing).rejects.toMatchObject({ code: 'aborted' });
    };
  }

  test('of a page that is silent for five minutes ends, and saves go on', async () => {
    db.change('t', a);
    const refused = expect(startImport()).rejects.toMatchObject({ code: 'import_lost' });
    await settled();
    a.execute({ op: 'delete', handle: 1, id: 't' });
    let isSaved = false;
    const saved = a.flush().then(() => {
      isSaved = true;
    });
    await db.advance(299_999);
    const part = { kind: 'records', records: [] } as const;
    expect(await a.execute({ op: 'importPart', handle: 1, call, part })).toBe(0);
    await db.advance(299_999);
    expect(isSaved).toBe(false);
    await db.advance(1);
    await refused;
    await saved;
    expect(await a.execute({ op: 'importPart', handle: 1, call, part })).toBe(undefined);
  });

  test('saves linked collections first, and delays no later save of the others', async () => {
    db.change('t', a, b);
    const end = await beginImport();
    expect(rig.saves()).toEqual(['a+b']);
    db.changeAlone('u', b);
    await b.flush();
    expect(rig.saves()).toEqual(['a+b', 'b']);
    await end();
  });

  test('into a linked collection without unsaved changes delays no save', async () => {
    await a.flush();
    db.change('t', a, b);
    a.execute({ op: 'delete', handle: 1, id: 't' });
    const end = await beginImport();
    await b.flush();
    expect(rig.saves()).toEqual(['b']);
    await end();
  });
});
