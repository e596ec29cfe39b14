import { expect, test } from 'vitest';
import type { Engine } from '../../src/engine/engine.ts';
import { remoteSession } from '../../src/engine/host/session-api.ts';
import type { EngineEvent } from '../../src/protocol/event-protocol.ts';
import type { WireEvent } from '../../src/protocol/wire-protocol.ts';

const saved = (changes: number): EngineEvent => ({
  ...{ type: 'save', detail: { collection: 'things', changes, at: new Date(0) } },
});
const changesOf = (events: readonly WireEvent[] = []) =>
  events.map(({ detail }) => (detail as { changes: number }).changes);

/** A session whose calls are answered when the test says so, and the messages of its events. */
async function joined() {
  const messages: number[][] = [];
  const answers: (() => void)[] = [];
  let emit!: (event: EngineEvent) => void;
  const session = {
    execute: () => new Promise((resolve) => answers.push(() => resolve({ values: [], turn: 1 }))),
    resume: async () => ({ failures: new Map(), database: undefined }),
  };
  const engine = {
    status: {},
    join: (listener: typeof emit) => {
      emit = listener;
      return session;
    },
  } as unknown as Engine;
  const api = remoteSession(engine, 'page.1', (events) => messages.push(changesOf(events)));
  await api.replay([], [], undefined);
  await settled();
  messages.length = 0;
  return { api, messages, answers, emit };
}

const settled = () => new Promise((resolve) => setTimeout(resolve));

test('events travel with the reply that follows them', async () => {
  const { api, messages, answers, emit } = await joined();
  const replying = api.execute([], [], 1);
  emit(saved(1));
  emit(saved(2));
  answers[0]?.();
  expect(changesOf((await replying).events)).toEqual([1, 2]);
  await settled();
  expect(messages).toEqual([]);
});

test('events that no reply follows are one message', async () => {
  const { messages, emit } = await joined();
  emit(saved(1));
  emit(saved(2));
  await settled();
  expect(messages).toEqual([[1, 2]]);
});

test('of several statuses only the newest is sent, at its place', async () => {
  const { api, answers, emit } = await joined();
  const replying = api.execute([], [], 1);
  const status = (unsaved: number): EngineEvent => ({
    type: 'status',
    detail: {
      ...{ storage: 'memory', encrypted: false, tabs: 1, unsaved },
      ...{ unsaved_since: undefined, last_save: undefined, parts: [], last_error: undefined },
    },
  });
  emit(status(1));
  emit(saved(1));
  emit(status(0));
  answers[0]?.();
  const { events } = await replying;
  expect(events?.map(({ type }) => type)).toEqual(['save', 'status']);
  expect(events?.[1]).toMatchObject({ detail: { unsaved: 0 } });
});

test('a later event does not overtake a reply that carries earlier ones', async () => {
  for (let turns = 0; turns < 20; turns++) {
    const { api, messages, answers, emit } = await joined();
    // As comlink does, the reply becomes a message some microtasks after it is there.
    const replied = api.execute([], [], 1).then(async ({ events }) => {
      for (let turn = 0; turn < 8; turn++) await undefined;
      messages.push(changesOf(events));
    });
    emit(saved(1));
    answers[0]?.();
    for (let turn = 0; turn < turns; turn++) await undefined;
    emit(saved(2));
    await replied;
    await settled();
    expect(messages.flat()).toEqual([1, 2]);
  }
});
