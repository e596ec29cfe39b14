import { afterAll, expect, test, vi } from 'vitest';
import type { LeadershipMember, StartEngine } from '../../src/page/connection/leadership.ts';
import type { DatabaseSettings } from '../../src/protocol/database-settings.ts';

const seen = vi.hoisted(() => ({ members: [] as LeadershipMember[], moves: [] as unknown[] }));

vi.mock(import('../../src/page/connection/shared-leaderships.ts'), async () => {
  const { StorageError } = await import('../../src/errors/errors.ts');
  /** Another tab leads, and refuses the client. */
  class SharedLeaderships {
    access({ move_to }: DatabaseSettings, platform: object) {
      const start: StartEngine = async () => {
        seen.moves.push(move_to);
        throw new Error('No engine starts in this test.');
      };
      const leadership = {
        join: (member: LeadershipMember) => {
          seen.members.push(member);
          queueMicrotask(() => member.failed(new StorageError('key_missing', 'Refused.')));
        },
        leave: () => Promise.resolve(),
        replayJournals: () => undefined,
        hosts: false,
      };
      return { leadership, platform, start };
    }
  }
  return { SharedLeaderships } as never;
});

// Another file may have loaded what is mocked.
vi.resetModules();
const { migrateStorage } = await import('../../src/migrate-storage.ts');

afterAll(() => void vi.resetModules());

for (const to of ['opfs', 'indexeddb'] as const) {
  test(`a refused move to ${to} does not happen when the client is elected later`, async () => {
    const refused = migrateStorage({ name: `refused ${to}`, to });
    await expect(refused).rejects.toMatchObject({ code: 'database_busy' });
    const member = seen.members.pop();
    await expect(member?.start?.({} as never, {} as never)).rejects.toThrow('No engine starts');
    expect(seen.moves.splice(0)).toEqual([undefined]);
  });
}
