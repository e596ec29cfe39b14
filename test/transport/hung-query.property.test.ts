import { expect, test } from 'vitest';
import { ClientChannel } from '../../src/page/connection/client-channel.ts';
import type { HandleRequest } from '../../src/page/sending/sender.ts';
import type { Request } from '../../src/protocol/requests.ts';
import { type CollectionSettings, plainSettings } from '../../src/protocol/settings.ts';
import { fc, runs } from '../setup/properties.ts';
import { TrappedEngines, trap } from './trapped-engines.ts';

const command = fc.constantFrom(
  ...([
    'insert',
    'insert',
    'push',
    'push',
    'count',
    'mayHang',
    'hang',
    'clear',
    'many',
    'abort',
  ] as const),
  ...(['save', 'pause', 'pause', 'crash'] as const),
);

const settings = { name: 'trapped', storage: undefined, durability: 'relaxed' } as const;

/** The outcome of a call: its value, or the code of its error. */
const outcome = (call: Promise<unknown>) =>
  call.catch((error: { code: string }) => ({ code: error.code }));

const text = (value: string) => JSON.stringify({ text: value });

test('with random hangs and crashes, every other call settles as if the hung ones had not been made', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(command, { maxLength: 25 }),
      fc.infiniteStream(fc.integer({ min: 0, max: 3 })),
      fc.record({
        caching: fc.boolean(),
        save_directly_after: fc.integer({ min: 1, max: 8 }),
        closeAtOnce: fc.boolean(),
      }),
      async (commands, delays, { closeAtOnce, ...options }) => {
        using engines = new TrappedEngines();
        engines.delay = () => delays.next().value as number;
        const link = new ClientChannel(settings, engines.connect, {
          event: () => undefined,
          state: () => undefined,
          isClosing: () => false,
        });
        const settled: Promise<unknown>[] = [];
        const problems: unknown[] = [];
        const settle = (call: Promise<unknown>, check: (result: unknown) => void) =>
          settled.push(call.then(check).catch((problem) => problems.push(problem)));
        const open = (name: string, type: CollectionSettings['type']) => {
          const handle = link.newHandle();
          const send = (ask: HandleRequest) =>
            outcome(link.requests.send({ ...ask, handle } as Request));
          settled.push(
            send({ op: 'open', settings: { ...plainSettings(name, type), ...options } }),
          );
          return send;
        };
        const notes = open('notes', 'DOCUMENT_BASED');
        const values = open('values', 'KEY_VALUE_BASED');

        /** Texts of the notes in order, without those of `insertMany`. */
        let present: string[] = [];
        const many: string[][] = [];
        const pushed: number[] = [];
        /** The possible counts from now on. */
        const counts = [0];
        let crashes = 3;
        const expectMade = (call: Promise<unknown>, expected: unknown) => {
          settle(call, (result) => {
            // An engine saved it without answering.
            if ((result as { code?: string } | undefined)?.code === 'answer_lost') return;
            expect(result).toEqual(expected);
          });
        };
        const expectCount = (call: Promise<unknown>) => {
          const from = counts.length - 1;
          settle(call, (result) => expect(counts.slice(from)).toContain(result));
        };
        for (const [at, kind] of commands.entries()) {
          switch (kind) {
            case 'insert': {
              const id = `${at % 2 ? 'a' : 'b'}${at}`;
              expectMade(notes({ op: 'insert', id, body: text(id) }), [id, 0]);
              present.push(id);
              counts.push(present.length);
              break;
            }
            case 'push': {
              pushed.push(at);
              const ask = { op: 'kvPush', key: 'list', body: JSON.stringify(at) } as const;
              expectMade(values(ask), JSON.stringify(pushed));
              break;
            }
            case 'clear': {
              // Texts that begin with "a": the matches of the trap.
              const left = present.filter((id) => id.startsWith('b'));
              const criteria = { text: trap(9) };
              const ask = { op: 'deleteMany', criteria, archived: true, mayHang: true } as const;
              // As above: a retry need not find notes inserted and deleted with the lost engine.
              expectMade(notes(ask), expect.any(Number));
              present = left;
              counts.push(present.length);
              break;
            }
            case 'count': {
              const criteria = { text: { $nin: ['many', 'hang7'] } };
              expectCount(notes({ op: 'count', criteria, archived: true }));
              break;
            }
            case 'mayHang': {
              const criteria = { text: { $in: [trap(8)], $not: /many|hang/ } };
              const counted = notes({ op: 'count', criteria, archived: true, mayHang: true });
              settle(counted, (result) => expect(result).toEqual(expect.any(Number)));
              break;
            }
            case 'hang': {
              // Only this call finds the document with trap 7.
              expectMade(notes({ op: 'upsert', id: 'z', body: text('hang7') }), expect.anything());
              const criteria = { text: trap(7) };
              const hung = notes({ op: 'count', criteria, archived: true, mayHang: true });
              settle(hung, (result) => expect(result).toEqual({ code: 'query_hung' }));
              // If it was inserted and deleted without a save, the next engine has nothing to
              // delete.
              expectMade(notes({ op: 'delete', id: 'z' }), expect.any(Boolean));
              break;
            }
            case 'many': {
              const ids = [1, 2, 3].map((part) => `m${at}.${part}`);
              many.push(ids);
              settled.push(insertMany(at, ids));
              break;
            }
            case 'abort':
              // Lost with the engine or not: no call waits for it.
              settled.push(notes({ op: 'abort', call: at, urgent: true }));
              break;
            case 'save':
              settle(link.save(), () => undefined);
              break;
            case 'crash':
              if (crashes-- > 0) engines.crash();
              break;
            case 'pause':
              await engines.wait();
          }
        }
        async function insertMany(call: number, ids: string[]): Promise<void> {
          for (const [index, id] of ids.entries()) {
            const last = index === ids.length - 1;
            const bodies = [text('many')];
            const answer = notes({ op: 'insertPart', call, from: index, ids: [id], bodies, last });
            expectMade(answer, expect.objectContaining({ keys: [id] }));
            await new Promise((resolve) => setImmediate(resolve));
          }
        }
        // insertMany sends its later parts step by step; close() waits for them.
        if (!closeAtOnce || many.length > 0) while (settled.length > 0) await settled.shift();
        else await Promise.all([...settled.splice(0), link.close()]);
        await link.close();
        await Promise.all(settled);
        expect(problems).toEqual([]);
        expect(link.state).toBe('closed');

        const reader = new ClientChannel(settings, engines.connect, {
          event: () => undefined,
          state: () => undefined,
          isClosing: () => false,
        });
        const ask = async (
          name: string,
          type: CollectionSettings['type'],
          request: HandleRequest,
        ) => {
          const handle = reader.newHandle();
          const opened = { ...plainSettings(name, type), caching: true };
          await reader.requests.send({ op: 'open', handle, settings: opened });
          return reader.requests.send({ ...request, handle } as Request);
        };
        const scan = { op: 'scan', archived: true, all: true } as const;
        const found = (await ask('notes', 'DOCUMENT_BASED', scan)) as { keys: string[] };
        const isMany = (id: string) => id.startsWith('m');
        expect(found.keys.filter((id) => !isMany(id))).toEqual(present);
        expect(found.keys.filter(isMany).toSorted()).toEqual(many.flat().toSorted());
        const list = await ask('values', 'KEY_VALUE_BASED', { op: 'kvGet', key: 'list' });
        const stored = (list as { body: string } | undefined)?.body;
        expect(JSON.parse(stored ?? '[]')).toEqual(pushed);
        await reader.close();
        expect(engines.violations).toEqual([]);
      },
    ),
    runs(300),
  );
});
