import { describe, expect, test } from 'vitest';
import { fc, runs } from '../../setup/properties.ts';
import { definition, type Fields, IndexedWorld } from './indexed-world.ts';

/**
 * Few values, so ends of ranges meet; an index for every field, so nearly every query has a plan.
 */
const scalar = fc.constantFrom<unknown[]>(null, 0, 1, 2, 3, Number.NaN, 'a', 'ab', 'b', true);
const operand = fc.constantFrom<unknown[]>(null, 0, 1, 2, 3, 'a', 'ab', false);
const path = fc.constantFrom('a', 'b');

const operator = fc.oneof(
  ...['$eq', '$gt', '$gte', '$lt', '$lte'].map((name) =>
    operand.map((value): Fields => ({ [name]: value })),
  ),
  fc.array(scalar, { minLength: 1, maxLength: 3 }).map(($in): Fields => ({ $in })),
);
const fields = fc
  .array(fc.tuple(path, operator), { minLength: 1, maxLength: 3 })
  .map((parts): Fields => ({ $and: parts.map(([field, asked]) => ({ [field]: asked })) }));
const branches = fc.array(fields, { minLength: 2, maxLength: 2 }).map(($or): Fields => ({ $or }));
const criteria = fc.oneof(
  fields,
  branches,
  fc.tuple(branches, branches).map(($and): Fields => ({ $and })),
  fc.tuple(fields, branches).map(([one, other]): Fields => ({ ...one, ...other })),
);
const scalars = fc.dictionary(path, scalar);
const lists = fc.dictionary(path, fc.oneof(scalar, fc.array(scalar, { maxLength: 3 })));

describe('a planned query returns the results of a scan', () => {
  test.each([
    ['scalars', scalars, [definition('a'), definition('b')]],
    ['scalars, by two fields', scalars, [definition(['a', 'b']), definition('b')]],
    ['lists', lists, [definition('a', true), definition('b', true)]],
    ['lists without multi', lists, [definition('a'), definition(['b', 'a'])]],
  ])('of %s', (_name, document, definitions) => {
    fc.assert(
      fc.property(fc.array(document, { maxLength: 12 }), criteria, (documents, asked) => {
        const world = new IndexedWorld(definitions, documents);
        const plan = world.plan({ criteria: asked });
        expect(plan.kind).not.toBe('scan');
        expect(world.byPlan({ criteria: asked }, plan), fc.stringify([asked, plan])).toEqual(
          world.byScan({ criteria: asked }),
        );
      }),
      runs(2500),
    );
  });
});
