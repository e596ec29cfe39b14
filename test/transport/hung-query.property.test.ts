import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Ask } from '../../src/collection/exchange.ts';
import type { Request } from '../../src/engine/protocol.ts';
import type { Channel, Connect } from '../../src/transport/channel.ts';
import { Link } from '../../src/transport/link.ts';
import { RestartingChannel } from '../../src/transport/restarting-channel.ts';
import { HangingEngines } from './hanging-engines.ts';

const command = fc.constantFrom(
  ...(['insert', 'insert', 'count', 'risky', 'hang', 'many', 'abort', 'save', 'pause'] as const),
);

const settings = { name: 'hung', storage: undefined, durability: 'relaxed' } as const;

/** What came of a call: its value, or the code of its error. */
const outcome = (call: Promise<unknown>) =>
  call.catch((error: { code: string }) => ({ code: error.code }));

test('whatever hangs and when, every call settles as if the hung ones had not been made', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(command, { maxLength: 25 }),
      fc.infiniteStream(fc.integer({ min: 0, max: 3 })),
      fc.boolean(),
      async (commands, delays, closeAtOnce) => {
        const engines = new HangingEngines();
        engines.delay = () => delays.next().value as number;
        const connect: Connect = (_, events) =>
          RestartingChannel.start(engines.begin, events) as Promise<Channel>;
        const link = new Link(settings, connect, {
          event: () => undefined,
          state: () => undefined,
        });
        const handle = link.takeHandle();
        const send = (ask: Ask) => outcome(link.send({ ...ask, handle } as Request));
        const inserted: string[] = [];
        const whole: string[] = [];
        const settled: Promise<void>[] = [];
        const expectIt = (call: Promise<unknown>, expected: unknown) =>
          settled.push(call.then((result) => expect(result).toEqual(expected)));

        expectIt(send({ op: 'open', settings: { name: 'notes' } as never }), undefined);
        let call = 0;
        for (const kind of commands) {
          call++;
          switch (kind) {
            case 'insert':
              inserted.push(`i${call}`);
              expectIt(send({ op: 'insert', id: `i${call}`, body: '' }), undefined);
              break;
            case 'count':
            case 'risky':
              expectIt(send({ op: 'count', risky: kind === 'risky' || undefined }), [...inserted]);
              break;
            case 'hang':
              expectIt(send({ op: 'count', criteria: { hang: true }, risky: true }), {
                code: 'query_hung',
              });
              break;
            case 'many': {
              const own = call;
              const parts = [1, 2, 3].map((part) => `m${own}.${part}`);
              whole.push(parts.join('+'));
              settled.push(insertMany(own, parts));
              break;
            }
            case 'abort':
              // Lost with the worker or not: nobody waits for it.
              settled.push(send({ op: 'abort', call, urgent: true }).then(() => undefined));
              break;
            case 'save':
              expectIt(outcome(link.save()), undefined);
              break;
            case 'pause':
              await engines.wait();
          }
        }
        async function insertMany(own: number, parts: string[]): Promise<void> {
          const answers: Promise<unknown>[] = [];
          for (const [index, body] of parts.entries()) {
            const last = index === parts.length - 1;
            const urgent = index > 0 || undefined;
            answers.push(send({ op: 'insertPart', call: own, bodies: [body], last, urgent }));
            await new Promise((resolve) => setImmediate(resolve));
          }
          expect(await Promise.all(answers)).toEqual([undefined, undefined, undefined]);
        }
        // An insertMany sends its later parts by and by, which a door waits for before it closes.
        if (!closeAtOnce || whole.length > 0) await Promise.all(settled);
        expect(await outcome(link.close())).toBeUndefined();
        await Promise.all(settled);
        expect(link.state).toBe('closed');
        expect(engines.violations).toEqual([]);
        const many = (key: string) => key.includes('+');
        expect(engines.stored.filter((key) => !many(key))).toEqual(inserted);
        expect(engines.stored.filter(many).toSorted()).toEqual(whole.toSorted());
      },
    ),
    { numRuns: 300 },
  );
});
