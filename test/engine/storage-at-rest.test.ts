import { expect, test, vi } from 'vitest';
import { wait } from '../../src/async/coroutine.ts';
import { Engine } from '../../src/engine/engine.ts';
import { parts } from '../../src/engine/parts.ts';
import type { Session } from '../../src/engine/sessions/session.ts';
import type { Request } from '../../src/protocol/requests.ts';
import { plainSettings } from '../../src/protocol/settings.ts';
import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';
import { FakeClock, settled } from './fake-clock.ts';
import { randomId } from './random-id.ts';

const HANDLE = 1;
const OTHER = 2;

/**
 * Each look at it shows that a slice of work has taken its time: long reads pause as often as they
 * may.
 */
class BusyClock extends FakeClock {
  #looks = 0;

  override elapsed(): number {
    this.#looks++;
    return super.elapsed() + 11 * this.#looks;
  }
}

/** Two sessions of an engine with 1000 documents, and storage whose writes the test can delay. */
async function open({ terminable = true } = {}) {
  const stored = await memoryDriver().open('rest', { damaged: () => undefined });
  const gate = { opened: Promise.resolve() };
  const engine = new Engine({
    storage: {
      getMany: (...read) => stored.getMany(...read),
      list: (...read) => stored.list(...read),
      keys: (...read) => stored.keys(...read),
      write: async (...write) => {
        await gate.opened;
        await stored.write(...write);
      },
      close: () => stored.close(),
    },
    ...{ storageKind: 'memory', durability: 'relaxed' },
    ...{ clock: new BusyClock(), newId: randomId, terminable },
  });
  const [one, two] = ['one', 'two'].map((client) => {
    const session = engine.join(() => undefined, client);
    session.openAll([
      [HANDLE, plainSettings('things', 'DOCUMENT_BASED')],
      [OTHER, plainSettings('others', 'DOCUMENT_BASED')],
    ]);
    return session;
  }) as [Session, Session];
  const bodies = Array.from({ length: 1000 }, () => '{"name":"x"}');
  await ask(one, { op: 'insertPart', handle: HANDLE, call: 1, from: 0, last: true, bodies });
  await one.save();
  return { one, two, gate };
}

async function ask(session: Session, request: Request): Promise<any> {
  const { values, failures } = await session.execute([request]);
  for (const error of failures?.values() ?? []) throw error;
  return values[0];
}

const search: Request = {
  ...{ op: 'count', handle: HANDLE, archived: true },
  ...{ criteria: { name: /x/ }, mayHang: true },
};
const insert = (handle: number): Request => ({ op: 'insert', handle, body: '{"name":"x"}' });

test('a change after a pattern that waits for storage stays behind it, whenever storage became busy', async () => {
  const { one, gate } = await open();
  let openGate = (): void => undefined;
  gate.opened = new Promise((resolve) => {
    openGate = resolve;
  });
  const none = { name: 'none' };
  const deleted = ask(one, { op: 'deleteMany', handle: HANDLE, archived: true, criteria: none });
  const found = ask(one, search);
  const inserted = ask(one, insert(HANDLE));
  await ask(one, insert(OTHER));
  const saved = one.save();
  expect(await deleted).toBe(0);
  await settled();
  openGate();
  expect(await found).toBe(1000);
  await Promise.all([inserted, saved]);
});

test('patterns of several clients that overlap do not keep a save waiting for ever', async () => {
  const { one, two } = await open();
  let isSaved = false;
  let searches = 0;
  const searchOn = async (session: Session): Promise<void> => {
    while (!isSaved && searches < 100) {
      await ask(session, search);
      searches++;
    }
  };
  const first = searchOn(one);
  await settled();
  const second = searchOn(two);
  await settled();
  await ask(one, insert(OTHER));
  await one.save();
  isSaved = true;
  await Promise.all([first, second]);
  expect(searches).toBeLessThan(10);
});

test.each([
  ['waits for storage where a hang terminates the thread', true],
  ['does not wait for storage in the thread of the page', false],
])('a pattern %s', async (_, terminable) => {
  const { one, gate } = await open({ terminable });
  let openGate = (): void => undefined;
  gate.opened = new Promise((resolve) => {
    openGate = resolve;
  });
  await ask(one, insert(OTHER));
  const saved = one.save();
  await settled();
  let count: unknown;
  const counted = ask(one, search).then((found) => {
    count = found;
  });
  for (let turn = 0; turn < 20; turn++) await settled();
  expect(count).toBe(terminable ? undefined : 1000);
  openGate();
  await Promise.all([saved, counted]);
  expect(count).toBe(1000);
});

test('a commit that compares a pattern waits for storage, and finds what was changed meanwhile', async () => {
  const { one, two, gate } = await open();
  const commit = async (number: number, id: string): Promise<unknown> => {
    const change: Request = { op: 'insert', handle: OTHER, id, body: '{}' };
    await ask(one, { ...search, transaction: 1 });
    await ask(one, { ...change, transaction: 1 });
    let openGate = (): void => undefined;
    gate.opened = new Promise((resolve) => {
      openGate = resolve;
    });
    await ask(two, { op: 'insert', handle: HANDLE, body: `{"name":"${id}"}` });
    const saved = two.save();
    await settled();
    const request: Request = {
      op: 'commit',
      handle: 0,
      transaction: 1,
      changes: [change],
      numbers: [[OTHER, number]],
      mayHang: true,
    };
    let reply: unknown;
    const answered = ask(one, request).then((value) => {
      reply = value;
    });
    for (let turn = 0; turn < 20; turn++) await settled();
    expect(reply).toBe(undefined);
    openGate();
    await Promise.all([saved, answered]);
    return reply;
  };
  expect(await commit(1, 'y')).toBe('committed');
  expect(await commit(2, 'x')).toBe('conflict');
  expect(await ask(one, { op: 'count', handle: OTHER, archived: true })).toBe(1);
});

test('a save does not wait for the code of an update with a pattern', async () => {
  const { one, two } = await open();
  let come: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    come = resolve;
  });
  const { need } = parts;
  vi.spyOn(parts, 'need').mockImplementation(function* (name) {
    yield* wait(held);
    return yield* need.call(parts, name) as ReturnType<typeof parts.need<typeof name>>;
  } as typeof parts.need);
  const changes = '{"$pull":{"tags":{"$regex":"a+"}}}';
  const update = { op: 'patchMany', handle: HANDLE, criteria: {}, changes } as const;
  const updated = ask(one, { ...update, needs: ['updates'], mayHang: true } as Request);
  await settled();
  await ask(two, { op: 'insert', handle: OTHER, id: 'x', body: '{}' });
  await ask(two, { op: 'save', handle: OTHER });
  come();
  vi.restoreAllMocks();
  await updated;
});
