import { expect, test } from 'vitest';
import { InFlightRequests } from '../../src/page/connection/in-flight-requests.ts';
import { LeaderLink } from '../../src/page/connection/leader-link.ts';
import type { Leadership, LeadershipMember } from '../../src/page/connection/leadership.ts';
import { type Announcement, PROTOCOL } from '../../src/platform/announcements.ts';
import type { Broadcast } from '../../src/platform/platform.ts';
import { FakeClock, settled } from '../engine/fake-clock.ts';
import { lonePlatform } from '../engine/lone-platform.ts';

const ignore = () => undefined;

test('a client asks the leader that it followed again, once an engine of its page is deposed', async () => {
  const said: Announcement[] = [];
  const listeners: ((event: MessageEvent<Announcement>) => void)[] = [];
  const broadcast = (): Broadcast => ({
    postMessage: (message: Announcement) => void said.push(message),
    addEventListener: (_: string, listener: never) => void listeners.push(listener),
    removeEventListener: ignore,
    close: ignore,
  });
  const members: LeadershipMember[] = [];
  const join = (member: LeadershipMember) => void members.push(member);
  const leadership = { join, steal: ignore, leave: async () => undefined, hosts: false };
  const storage = { kind: 'indexeddb', open: () => Promise.reject(new Error('unused')) } as const;
  const platform = { ...lonePlatform(new FakeClock(), storage), broadcast };
  const link = new LeaderLink(
    { name: 'test', storage: undefined, durability: 'relaxed' },
    { leadership: leadership as unknown as Leadership, platform },
    new InFlightRequests({ name: 'test', refusal: ignore, reaches: () => false }),
    { up: ignore, down: ignore, failed: ignore, event: ignore },
  );
  const joins = async () => {
    const data = { type: 'lead', leader: 'other', epoch: 1, protocol: PROTOCOL } as const;
    listeners[0]?.({ data } as MessageEvent<Announcement>);
    await settled();
    return said.filter(({ type }) => type === 'join').length;
  };
  expect([await joins(), await joins()]).toEqual([1, 1]);
  // Its lock was stolen before it ran.
  members[0]?.deposed(undefined);
  expect(await joins()).toBe(2);
  await link.close();
});
