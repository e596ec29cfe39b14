import { describe, expectTypeOf, test } from 'vitest';
import { Database } from '../../src/index.ts';
import { type UndoHistory, type UndoSummary, undo } from '../../src/undo/index.ts';

interface Shape {
  x: number;
}

const db = new Database({ name: 'types' });
const shapes = new db.Collection<Shape>({
  name: 'shapes',
  type: 'DOCUMENT_BASED',
  shared_documents: true,
  indicate_created_at: true,
});
const values = new db.Collection<number>({ name: 'values', type: 'KEY_VALUE_BASED' });

describe('undo()', () => {
  test('takes collections of any type, in one list', () => {
    const history = undo(db, { collections: [shapes, values], limit: 5 });
    expectTypeOf(history).toEqualTypeOf<UndoHistory>();
    expectTypeOf(history.undo()).resolves.toEqualTypeOf<UndoSummary | undefined>();
    expectTypeOf(history.can_undo).toEqualTypeOf<boolean>();
    // @ts-expect-error collections are required
    undo(db, {});
    // @ts-expect-error no collection
    undo(db, { collections: [{ name: 'shapes', type: 'DOCUMENT_BASED' }] });
    // @ts-expect-error read-only
    history.can_undo = true;
  });

  test('transactions keep their types', () => {
    const history = undo(db, { collections: [shapes] });
    const moved = history.transaction('Move', async (tx) => {
      // @ts-expect-error not of a shape
      await tx(shapes).patch('a', { y: 1 });
      return (await tx(shapes).patch('a', { x: 1 }))?.x;
    });
    expectTypeOf(moved).resolves.toEqualTypeOf<number | undefined>();
    // @ts-expect-error a step has a label
    history.transaction(async () => undefined);
  });
});
