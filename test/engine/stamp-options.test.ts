import { expect, onTestFinished, test, vi } from 'vitest';
import { Database } from '../../src/index.ts';

test('a second handle with other stamp options warns once, naming both and the remedy', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  onTestFinished(() => warn.mockRestore());
  const db = new Database({ name: 'stamps', storage: 'memory' });
  const open = (options: object) =>
    new db.Collection({ name: 'notes', type: 'DOCUMENT_BASED', ...options }).ready;
  await open({ indicate_created_at: true });
  await open({ indicate_created_at: true });
  expect(warn).not.toHaveBeenCalled();
  for (let times = 0; times < 2; times++) await open({ indicate_updated_timestamp: true });
  expect(warn).toHaveBeenCalledTimes(1);
  const [message] = warn.mock.calls[0] as [string];
  for (const part of ['"notes"', 'indicate_created_at', 'indicate_updated_timestamp', 'reload'])
    expect(message).toContain(part);
  await db.close();
});
