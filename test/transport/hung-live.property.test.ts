import { beforeAll, expect, test } from 'vitest';
import type { LiveSnapshot } from '../../src/index.ts';
import { BaseClient } from '../../src/page/client/base-client.ts';
import { fc, runs } from '../setup/properties.ts';
import { TrappedEngines, trap } from './trapped-engines.ts';

interface Note {
  readonly text: string;
}

type Shown = LiveSnapshot<readonly (Note & { readonly _id: string })[]>;

const command = fc.oneof(
  fc.record({ kind: fc.constant('read'), number: fc.integer({ min: 0, max: 3 }) }),
  fc.record({ kind: fc.constant('leave'), number: fc.nat(5) }),
  fc.record({
    kind: fc.constant('put'),
    id: fc.constantFrom('x', 'y', 'z'),
    text: fc.constantFrom('a1', 'a2', 'a2', 'b', 'hang1', 'hang2'),
  }),
  fc.record({ kind: fc.constant('delete'), id: fc.constantFrom('x', 'y', 'z') }),
  fc.record({ kind: fc.constant('clear') }),
  fc.record({ kind: fc.constant('hang') }),
  fc.record({ kind: fc.constant('crash') }),
  fc.record({ kind: fc.constant('pause'), turns: fc.constantFrom(5, 50) }),
);

interface Reader {
  readonly number: number;
  readonly snapshots: Shown[];
  readonly stop: () => void;
  left: boolean;
}

/** Far more turns of the event loop than a restart takes. */
const TURNS = 5000;

const settings = { name: 'trapped', storage: undefined, durability: 'relaxed' } as const;

/** Settles when a change is applied: an engine may have saved it without answering. */
const made = (call: Promise<unknown>): Promise<unknown> =>
  call.catch((error) => expect(error).toMatchObject({ code: 'answer_lost' }));

const textsOf = (data: readonly Note[]) => data.map(({ text }) => text).toSorted();

/** The criteria of the numbered query; 0 has no pattern. */
const found = (number: number, notes: Iterable<string>) =>
  [...notes].filter((text) => number === 0 || text.startsWith('a')).toSorted();

const options = { name: 'notes', type: 'DOCUMENT_BASED' } as const;

// To load the code of live queries may take longer than TURNS.
beforeAll(async () => {
  using engines = new TrappedEngines();
  const db = new BaseClient(settings, engines.connect);
  await new db.Collection(options).live({}).ready;
  await db.close();
});

test('with random hangs and crashes, live queries show the current data or query_hung', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(command, { maxLength: 25, size: '+1' }),
      fc.infiniteStream(fc.integer({ min: 0, max: 3 })),
      fc.boolean(),
      fc.boolean(),
      async (commands, delays, caching, readsFirst) => {
        using engines = new TrappedEngines();
        engines.delay = () => delays.next().value as number;
        const db = new BaseClient(settings, engines.connect);
        const notes = new db.Collection<{ text: string }>({ ...options, caching });
        const texts = new Map<string, string>();
        const readers: Reader[] = [];
        const calls: Promise<unknown>[] = [];
        let hangs = 0;
        let crashes = 3;
        const read = (number: number) => {
          const snapshots: Shown[] = [];
          const query = notes.live(number === 0 ? {} : { text: trap(number) });
          const stop = query.subscribe((snapshot) => snapshots.push(snapshot));
          readers.push({ number, snapshots, stop, left: false });
        };
        if (readsFirst) read(0);
        while (readers[0]?.snapshots.length === 0) await engines.wait(1);
        for (const step of commands) {
          if (step.kind === 'read') read(step.number);
          else if (step.kind === 'leave') {
            const reader = readers[step.number];
            reader?.stop();
            if (reader) reader.left = true;
          } else if (step.kind === 'put') {
            texts.set(step.id, step.text);
            calls.push(made(notes.upsert({ _id: step.id, text: step.text })));
          } else if (step.kind === 'delete') {
            calls.push(made(notes.delete(step.id)));
            texts.delete(step.id);
          } else if (step.kind === 'clear') {
            // No document has trap 5.
            calls.push(made(notes.deleteMany({ text: trap(5) })));
            for (const [id, text] of texts) if (text.startsWith('a')) texts.delete(id);
          } else if (step.kind === 'hang') {
            // Only this document has trap 4, and no live query finds it.
            hangs++;
            const hung = made(notes.upsert({ _id: 'w', text: 'hang4' })).then(() =>
              notes.count({ text: trap(4) }).then(
                () => expect.unreachable(),
                (error) => expect(error).toMatchObject({ code: 'query_hung' }),
              ),
            );
            texts.set('w', 'hang4');
            calls.push(hung);
          } else if (step.kind === 'crash') {
            if (crashes-- > 0) engines.crash();
          } else await engines.wait(step.turns);
        }
        await Promise.all(calls);
        const settledIn = ({ number, snapshots, left }: Reader) => {
          const last = snapshots.at(-1);
          if (left || last?.status === 'error') return true;
          if (last?.status !== 'ready' || [...texts.values()].includes(`hang${number}`))
            return false;
          return String(textsOf(last.data)) === String(found(number, texts.values()));
        };
        for (let turns = 0; turns < TURNS && !readers.every(settledIn); turns++)
          await engines.wait(1);
        for (const reader of readers) {
          expect(reader).toSatisfy(settledIn);
          reader.snapshots.forEach(({ status, data = [], error }, index) => {
            if (status === 'error') {
              expect([1, 2]).toContain(reader.number);
              expect(error).toMatchObject({ code: 'query_hung' });
              return;
            }
            const before = reader.snapshots[index - 1]?.data;
            if (!before) return;
            const anew = data.filter((note) => !before.includes(note));
            for (const note of anew) expect(before).not.toContainEqual(note);
            expect(
              data.length !== before.length || data.some((note, at) => note !== before[at]),
            ).toBe(true);
          });
        }
        expect(engines.hung).toBeGreaterThanOrEqual(hangs);
        expect(textsOf(await notes.filter({}))).toEqual(found(0, texts.values()));
        await db.close();
        expect(engines.violations).toEqual([]);
      },
    ),
    runs(200),
  );
});
