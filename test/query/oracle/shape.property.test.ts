import { expect, test } from 'vitest';
import { compileCriteria } from '../../../src/query/criteria/compile-criteria.ts';
import { type Question, QuestionReader } from '../../../src/query/plan/read-question.ts';
import { fc, runs } from '../../setup/properties.ts';
import { naiveMatch } from './naive-criteria.ts';

/** Few: a key must come as a path and as an operator, in right places and wrong ones. */
const key = fc.constantFrom('a', 'b', '$eq', '$gt', '$lt');
const constant = fc.nat(3);
const some = { minKeys: 1, maxKeys: 2, noNullPrototype: true };
const criteria = fc.dictionary(key, fc.oneof(constant, fc.dictionary(key, constant, some)), some);
const many = fc.array(criteria, { minLength: 40, maxLength: 60 });
const documents = fc.array(fc.record({ a: constant, b: constant }), { minLength: 1, maxLength: 3 });

const partsOf = (question: Question | undefined) =>
  question && [question.shape.comparisons, question.shape.sort, question.constants];

/** The criteria as their shape and constants say them. */
function criteriaOf({ shape, constants }: Question): Record<string, unknown> {
  const read: Record<string, object> = {};
  for (const [at, { path, operator }] of shape.comparisons.entries())
    read[path] = { ...read[path], [operator]: constants[at] };
  return read;
}

test('a query is read the same whichever were read before, and as compiled criteria are', () => {
  fc.assert(
    fc.property(many, documents, (queries, found) => {
      const reader = new QuestionReader();
      for (const params of queries) {
        const question = reader.read(params, undefined, 10);
        const first = new QuestionReader().read(params, undefined, 10);
        expect(partsOf(question)).toEqual(partsOf(first));
        if (!question) continue;
        const compiled = compileCriteria(params);
        for (const document of found)
          expect(naiveMatch(document, criteriaOf(question))).toBe(compiled.test(document));
      }
    }),
    runs(1000),
  );
});
