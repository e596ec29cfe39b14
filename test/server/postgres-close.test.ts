import { expect, test } from 'vitest';
import { postgres } from '../../src/server/index.ts';

test('a store closes while its server refuses to be listened to', async () => {
  let refuse: (error: Error) => void = () => undefined;
  const listening = new Promise<never>((_, reject) => {
    refuse = reject;
  });
  let isAsked: () => void = () => undefined;
  const asked = new Promise<void>((resolve) => {
    isAsked = resolve;
  });
  const listen = () => {
    isAsked();
    return listening;
  };
  const store = postgres(async () => ({ rows: [{ answer: false }] }), { listen });
  const { signal } = new AbortController();
  const after = 'a.1';
  const watching = store.watch('orders', after, signal).catch(() => undefined);
  await Promise.race([asked, watching]);
  const closed = store.close();
  refuse(new Error('connect ECONNREFUSED'));
  await expect(closed).resolves.toBeUndefined();
  await watching;
});
