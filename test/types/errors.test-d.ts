import { expectTypeOf, test } from 'vitest';
import {
  CairnError,
  type CollectionError,
  type OptionError,
  StorageError,
  type ValueError,
} from '../../src/index.ts';

test('codes are typed', () => {
  expectTypeOf<OptionError>().toExtend<CairnError>();
  expectTypeOf<ValueError['code']>().extract<'id_taken'>().toEqualTypeOf<'id_taken'>();
  expectTypeOf<CollectionError['code']>().extract<'closed'>().toEqualTypeOf<'closed'>();
  expectTypeOf<CairnError['code']>().toEqualTypeOf<string>();
  expectTypeOf<CairnError['place']>().toEqualTypeOf<string | undefined>();
  const error: unknown = new StorageError('storage_full', 'The disk is full.');
  if (error instanceof CairnError) {
    const code: string = error.code;
    expectTypeOf(code).toEqualTypeOf<string>();
  }
  // @ts-expect-error no such code
  new StorageError('storage_small', 'The disk is small.');
  // @ts-expect-error a code cannot be set
  (error as CairnError).code = 'other';
});
