import { expectTypeOf, test } from 'vitest';
import { connect, Database, type StorageDriver } from '../../src/index.ts';
import { files } from '../../src/node/index.ts';

test('files() gives a driver for Database', () => {
  expectTypeOf(files('./data')).toEqualTypeOf<StorageDriver>();
  new Database({ name: 'a', storage: files(new URL('./data', import.meta.url)) });
  // @ts-expect-error a path is needed
  files();
  // @ts-expect-error a number
  files(1);
  // @ts-expect-error a driver cannot be sent to a worker
  connect({ name: 'a', storage: files('./data') });
});
