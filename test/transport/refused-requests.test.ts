import { expect, test } from 'vitest';
import { InFlightRequests } from '../../src/page/connection/in-flight-requests.ts';
import { databaseDestroyed } from '../../src/storage/drivers/database-id.ts';

test('a command that comes after everything was refused rejects, as no engine will answer it', async () => {
  const requests = new InFlightRequests({
    ...{ name: 'shop', refusal: () => undefined, reaches: () => true },
  });
  const earlier = requests.run(async () => 'answered');
  const error = databaseDestroyed('shop');
  requests.refuseAll(error);
  await expect(earlier).rejects.toBe(error);
  await expect(requests.run(async () => 'answered')).rejects.toBe(error);
});
