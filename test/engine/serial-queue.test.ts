import { expect, test } from 'vitest';
import { wait } from '../../src/async/coroutine.ts';
import { SerialQueue } from '../../src/async/serial-queue.ts';

/** Waits until nothing is ahead, as a replay does. @returns how often it has waited. */
async function waits(queue: SerialQueue): Promise<number> {
  let count = 0;
  for (; queue.busy && count < 100; count++) await queue.busy;
  return count;
}

test('two that wait for a collection to rest do not wait for each other', async () => {
  const queue = new SerialQueue();
  let end = () => {};
  const running = queue.enter(true, () => wait(new Promise<void>((resolve) => (end = resolve))));
  const both = Promise.all([waits(queue), waits(queue)]);
  end();
  expect(await both).toEqual([1, 1]);
  expect(queue.busy).toBeUndefined();
  await running;
});
