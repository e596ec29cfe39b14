import { expect, test } from 'vitest';
import { databaseDestroyed } from '../../src/storage/drivers/database-id.ts';
import { InFlightRequests } from '../../src/transport/channel/in-flight-requests.ts';
import { OpenHandles } from '../../src/transport/channel/open-handles.ts';

test('a command that comes after everything was refused rejects, as no engine will answer it', async () => {
  const requests = new InFlightRequests('shop', new OpenHandles(), () => undefined);
  const earlier = requests.run(async () => 'answered');
  const error = databaseDestroyed('shop');
  requests.refuseAll(error);
  await expect(earlier).rejects.toBe(error);
  await expect(requests.run(async () => 'answered')).rejects.toBe(error);
});
