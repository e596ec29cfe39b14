import { describe, expect, test } from 'vitest';
import type { Plan } from '../../../src/query/plan/plan.ts';
import { PlanReader } from '../../../src/query/plan/plan-reader.ts';
import { compileSort } from '../../../src/query/sort/compile-sort.ts';
import { definition, type Fields, IndexedWorld } from '../oracle/indexed-world.ts';

const regions = ['east', 'north', 'south', 'west'];
const documents = Array.from({ length: 400 }, (_, at) => ({
  region: regions[at % 4],
  age: (at * 7) % 100,
  city: `city${at % 20}`,
  tags: [`t${at % 10}`, `u${at % 3}`],
  address: { zip: at },
}));
const world = new IndexedWorld(
  [
    definition('city'),
    definition('age'),
    definition(['region', 'age']),
    definition('tags', true),
    definition('address.zip'),
  ],
  documents,
);

/** A plan in one line: its ranges, and `=` exact, `>` in order, `<` in reverse. */
function shown(plan: Plan): string {
  const marks = `${plan.exact ? '=' : ''}${plan.ordered ? '>' : ''}`;
  if (plan.kind === 'scan') return `scan ${marks}`.trim();
  if (plan.kind === 'ids') return `ids ${plan.ids} ${marks}`.trim();
  if (plan.kind === 'union')
    return `union(${plan.branches.map(shown).join(' | ')}) ${marks}`.trim();
  const ranges = plan.ranges.map(
    ({ from, to, fromOpen, toOpen }) =>
      `${fromOpen ? '(' : '['}${from.join()}..${to.join()}${toOpen ? ')' : ']'}`,
  );
  return `${plan.index} ${ranges.join('')} ${marks}${plan.reverse ? '<' : ''}`.trim();
}

describe('the plan', () => {
  test.each<[Fields, Fields | undefined, number | undefined, string]>([
    // answered by an index alone
    [{ city: 'city3' }, undefined, undefined, 'city [city3..city3] =>'],
    [
      { city: { $in: ['city3', 'city1', 'city3'] } },
      undefined,
      undefined,
      'city [city1..city1][city3..city3] =',
    ],
    [{ age: { $gte: 20, $lt: 40 } }, undefined, undefined, 'age [20..40) ='],
    [{ age: { $gt: 20 } }, undefined, undefined, 'age (20..Infinity] ='],
    [{ age: { $lt: 20 } }, undefined, undefined, 'age (NaN..20) ='],
    [{ city: { $gte: 'city5' } }, undefined, undefined, 'city [city5..false) ='],
    [{ city: /^city1/ }, undefined, undefined, 'city [city1..city2) ='],
    [{ city: { $regex: '^city1' } }, undefined, undefined, 'city [city1..city2) ='],
    [{ $and: [{ age: { $gt: 5 } }, { age: { $lte: 7 } }] }, undefined, undefined, 'age (5..7] ='],
    [{ age: { $gt: 9, $lt: 3 } }, undefined, undefined, 'age  ='],
    [{ region: 'east', age: 4 }, undefined, undefined, 'region,age [east,4..east,4] =>'],
    [
      { region: 'east', age: { $gt: 90 } },
      undefined,
      undefined,
      'region,age (east,90..east,Infinity] =',
    ],
    [{ 'address.zip': 7 }, undefined, undefined, 'address.zip [7..7] =>'],
    [{ tags: 't4' }, undefined, undefined, 'tags[] [t4..t4] =>'],
    // an index narrows, documents are tested
    [{ city: 'city3', name: 'Ada' }, undefined, undefined, 'city [city3..city3] >'],
    [{ city: /^city1./ }, undefined, undefined, 'city [city1..city2)'],
    [{ tags: { $all: ['t4', 'u1'] } }, undefined, undefined, 'tags[] [t4..t4] >'],
    [{ tags: { $gt: 't4', $lt: 't9' } }, undefined, undefined, 'tags[] [..t9)'],
    [{ city: 'city3', $nor: [{ age: 1 }] }, undefined, undefined, 'city [city3..city3] >'],
    // no index applies
    [{}, undefined, undefined, 'scan =>'],
    [{ city: /city1/ }, undefined, undefined, 'scan >'],
    [{ city: /^city1/i }, undefined, undefined, 'scan >'],
    [{ city: /^city1|x/ }, undefined, undefined, 'scan >'],
    [{ city: { $ne: 'city3' } }, undefined, undefined, 'scan >'],
    [{ tags: ['t4'] }, undefined, undefined, 'scan >'],
    [{ city: { $in: ['city3', {}] } }, undefined, undefined, 'scan >'],
    [{ $or: [{ city: 'city3' }, { name: 'Ada' }] }, undefined, undefined, 'scan >'],
    // ids
    [{ _id: 'id7' }, undefined, undefined, 'ids id7 =>'],
    [{ _id: { $in: ['id7', 'id3', 5] } }, undefined, undefined, 'ids id3,id7 ='],
    [{ _id: 'id7', city: 'city3' }, undefined, undefined, 'ids id7 >'],
    [{ _id: { $gt: 'id7' } }, undefined, undefined, 'scan >'],
    // branches
    [
      { $or: [{ city: 'city3' }, { age: 4 }] },
      undefined,
      undefined,
      'union(city [city3..city3] => | age [4..4] =>) =',
    ],
    [
      { $or: [{ city: 'city3' }, { _id: 'id7' }] },
      undefined,
      undefined,
      'union(city [city3..city3] => | ids id7 =>) =',
    ],
    [{ $or: [{ city: 'city3' }] }, undefined, undefined, 'city [city3..city3] =>'],
    [
      { region: 'east', $or: [{ age: 4 }, { age: 8 }] },
      undefined,
      undefined,
      'union(region,age [east,4..east,4] => | region,age [east,8..east,8] =>) =',
    ],
    [
      { name: { $exists: false }, $or: [{ city: 'city3' }, { age: 4 }] },
      undefined,
      undefined,
      'union(city [city3..city3] > | age [4..4] >)',
    ],
    // order
    [{}, { age: 1 }, 20, 'age [..] =>'],
    [{}, { age: -1 }, 20, 'age [..] =><'],
    [{ name: 'Ada' }, { age: 1 }, 20, 'age [..] >'],
    [{ name: 'Ada' }, { age: 1 }, undefined, 'scan'],
    [{}, { region: -1, age: -1 }, 20, 'region,age [..] =><'],
    [{ region: 'east' }, { age: -1 }, 20, 'region,age [east..east] =><'],
    [{ region: 'east' }, { region: 1, age: -1 }, 20, 'region,age [east..east] =><'],
    [{}, { region: 1, age: -1 }, 20, 'scan ='],
    [{}, { region: 1 }, 20, 'scan ='],
    [{}, { tags: 1 }, 20, 'scan ='],
    [{ age: { $gt: 50 } }, { age: -1 }, 5, 'age (50..Infinity] =><'],
    // sorting a few costs less than reading all in order
    [{ city: 'city3' }, { age: 1 }, 20, 'city [city3..city3] ='],
    [{ 'address.zip': 7, city: 'city7' }, undefined, undefined, 'address.zip [7..7] >'],
  ])('of %o, sort %o, limit %s', (criteria, sort, limit, expected) => {
    const plan = world.plan({ criteria, sort, limit });
    expect(shown(plan)).toBe(expected);
    expect(structuredClone(plan)).toEqual(plan);
  });

  test('of a field with an array in any document is neither exact nor in order', () => {
    const unkeyed = new IndexedWorld(
      [definition('age')],
      [{ age: 4 }, { age: [4, 9] }, { age: 5 }],
    );
    const plan = unkeyed.plan({ criteria: { age: 4 } });
    expect(shown(plan)).toBe('age [4..4]');
    expect(unkeyed.byPlan({ criteria: { age: 4 } })).toEqual(['id1', 'id2']);
    expect(shown(unkeyed.plan({ criteria: {}, sort: { age: 1 }, limit: 1 }))).toBe('scan =');
  });
});

describe('a reader', () => {
  const read = (plan: Plan, sort?: Fields) => {
    if (plan.kind === 'scan') throw new Error('Nothing to read.');
    return new PlanReader(plan, {
      indexes: world.indexes,
      byId: (id) => world.entries.get(id),
      order: sort && compileSort(sort),
    });
  };

  test('examines no more keys than requested', () => {
    const sort = { age: -1 };
    const reader = read(world.plan({ criteria: {}, sort, limit: 3 }), sort);
    expect([reader.next(), reader.next(), reader.next()].map((entry) => entry?.rank)).toEqual(
      world.byScan({ criteria: {}, sort, limit: 3 }).map((id) => Number(id.slice(2))),
    );
    expect(reader.keys).toBe(3);
  });

  test('counts keys and returns each document once', () => {
    const reader = read(world.plan({ criteria: { tags: { $in: ['t4', 'u1'] } } }));
    const found = new Set<number>();
    let given = 0;
    for (let entry = reader.next(); entry; entry = reader.next()) {
      found.add(entry.rank);
      given++;
    }
    expect(given).toBe(found.size);
    expect(reader.keys).toBe(40 + 133);
    expect(reader.next()).toBeUndefined();
  });

  test('skips unknown ids', () => {
    const reader = read(world.plan({ criteria: { _id: { $in: ['id5', 'none'] } } }));
    expect(reader.next()?.rank).toBe(5);
    expect(reader.next()).toBeUndefined();
  });
});
