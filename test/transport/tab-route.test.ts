import { expect, test } from 'vitest';
import { tabRoute } from '../../src/page/connection/tab-route.ts';
import { Announcements } from '../../src/platform/announcements.ts';
import { FakeClock } from '../engine/fake-clock.ts';
import { silentChannel } from './silent-channel.ts';

test('the error of a leader that accepts no client says for how long it was silent', async () => {
  const clock = new FakeClock();
  const ignore = () => undefined;
  const route = tabRoute(
    { leader: 'frozen', epoch: 1, protocol: 1 },
    {
      ...{ client: 'client', channel: 'pair', prove: undefined, broadcast: silentChannel, clock },
      announcements: new Announcements('db', silentChannel, ignore),
      switchboard: undefined,
    },
    { event: ignore, hasUnsaved: () => false, lost: ignore },
  );
  const refused = expect(route).rejects.toMatchObject({
    code: 'worker_unresponsive',
    message: "The leader's tab did not answer for 2 s.",
  });
  await clock.advance(2000);
  await refused;
});
