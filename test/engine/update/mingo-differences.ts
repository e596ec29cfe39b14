/** An update that mingo and MongoDB's server apply differently. */
interface Difference {
  /** What mingo does, in contrast to the server; the property leaves it out. */
  readonly says: string;
  readonly before: object;
  readonly changes: object;
  /** The document after the update, or the code of the error. */
  readonly server: object | string;
  /** The document after the update, or the beginning of the error. */
  readonly mingo: object | string;
}

const { NaN: nan } = Number;

export const differences: readonly Difference[] = [
  {
    says: 'A value of the wrong kind makes the operator do nothing, where the server refuses.',
    before: { a: 'x' },
    changes: { $inc: { a: 1 } },
    server: 'kind_mismatch',
    mingo: { a: 'x' },
  },
  {
    says: 'A $push to what is no array does nothing, where the server refuses.',
    before: { a: 'x' },
    changes: { $push: { a: 1 } },
    server: 'kind_mismatch',
    mingo: { a: 'x' },
  },
  {
    says: 'A path through a scalar does nothing, where the server refuses.',
    before: { a: 'x' },
    changes: { $set: { 'a.b': 1 } },
    server: 'kind_mismatch',
    mingo: { a: 'x' },
  },
  {
    says: 'A null on the path becomes an object, where the server refuses.',
    before: { a: null },
    changes: { $set: { 'a.b': 1 } },
    server: 'kind_mismatch',
    mingo: { a: { b: 1 } },
  },
  {
    says: 'A name in an array does nothing, where the server refuses.',
    before: { a: [{ b: 1 }] },
    changes: { $set: { 'a.b': 2 } },
    server: 'key_invalid',
    mingo: { a: [{ b: 1 }] },
  },
  {
    says: 'A name in an array makes $push push in every item, where the server refuses.',
    before: { a: [{ b: [] }, { b: [] }] },
    changes: { $push: { 'a.b': 1 } },
    server: 'key_invalid',
    mingo: { a: [{ b: [1] }, { b: [1] }] },
  },
  {
    says: 'New fields come in the order given, and not by name.',
    before: {},
    changes: { $set: { b: 1, a: 2 } },
    server: { a: 2, b: 1 },
    mingo: { b: 1, a: 2 },
  },
  {
    says: 'The gap before an item past the end has holes, and not null.',
    before: { a: [] },
    changes: { $set: { 'a.1': 1 } },
    server: { a: [null, 1] },
    // biome-ignore lint/suspicious/noSparseArray: this is the hole.
    mingo: { a: [, 1] },
  },
  {
    says: 'An equal object stays, although its fields get another order.',
    before: { a: { x: 1, y: 2 } },
    changes: { $set: { a: { y: 2, x: 1 } } },
    server: { a: { y: 2, x: 1 } },
    mingo: { a: { x: 1, y: 2 } },
  },
  {
    says: '0 and -0 are the same to $set.',
    before: { a: 0 },
    changes: { $set: { a: -0 } },
    server: { a: -0 },
    mingo: { a: 0 },
  },
  {
    says: '$inc takes -0 for 0.',
    before: { a: -0 },
    changes: { $inc: { a: -0 } },
    server: { a: -0 },
    mingo: { a: 0 },
  },
  {
    says: 'A bigint is no number.',
    before: { a: 1n },
    changes: { $inc: { a: 1n } },
    server: { a: 2n },
    mingo: 'Cannot increment',
  },
  {
    says: 'NaN is equal to every number for $min and $max, and not the least.',
    before: { a: 5, b: nan },
    changes: { $min: { a: nan }, $max: { b: 1 } },
    server: { a: nan, b: 1 },
    mingo: { a: 5, b: nan },
  },
  {
    says: '$min and $max compare the items of an array with a scalar, and not the array.',
    before: { a: [5, 1] },
    changes: { $max: { a: 3 } },
    server: { a: [5, 1] },
    mingo: { a: 3 },
  },
  {
    says: 'Arrays are sorted before they are compared.',
    before: { a: [1, 9] },
    changes: { $min: { a: [9, 0] } },
    server: { a: [1, 9] },
    mingo: { a: [9, 0] },
  },
  {
    says: '$addToSet removes the duplicates that are there.',
    before: { a: [1, 1] },
    changes: { $addToSet: { a: 1 } },
    server: { a: [1, 1] },
    mingo: { a: [1] },
  },
  {
    says: '$addToSet adds nothing if duplicates that are there outweigh what is new.',
    before: { a: [1, 1] },
    changes: { $addToSet: { a: 2 } },
    server: { a: [1, 1, 2] },
    mingo: { a: [1, 1] },
  },
  {
    says: '$addToSet keeps duplicates in $each for a missing field.',
    before: {},
    changes: { $addToSet: { a: { $each: [2, 2] } } },
    server: { a: [2] },
    mingo: { a: [2, 2] },
  },
  {
    says: '$addToSet ignores the order of fields.',
    before: { a: [{ x: 1, y: 2 }] },
    changes: { $addToSet: { a: { y: 2, x: 1 } } },
    server: {
      a: [
        { x: 1, y: 2 },
        { y: 2, x: 1 },
      ],
    },
    mingo: { a: [{ x: 1, y: 2 }] },
  },
  {
    says: '$push ignores $slice and $sort for a missing field.',
    before: {},
    changes: { $push: { a: { $each: [3, 1, 2], $sort: 1, $slice: 2 } } },
    server: { a: [1, 2] },
    mingo: { a: [3, 1, 2] },
  },
  {
    says: '$push sorts by the first path alone.',
    before: { a: [{ x: 1, y: 2 }] },
    changes: { $push: { a: { $each: [{ x: 1, y: 1 }], $sort: { x: 1, y: 1 } } } },
    server: {
      a: [
        { x: 1, y: 1 },
        { x: 1, y: 2 },
      ],
    },
    mingo: {
      a: [
        { x: 1, y: 2 },
        { x: 1, y: 1 },
      ],
    },
  },
  {
    says: '$push sorts a scalar among objects by itself, and not as one without the field.',
    before: { a: [{ x: 1 }] },
    changes: { $push: { a: { $each: [5], $sort: { x: 1 } } } },
    server: { a: [5, { x: 1 }] },
    mingo: { a: [{ x: 1 }, 5] },
  },
  {
    says: '$push puts a missing field before null, and not beside it.',
    before: { a: [{ x: null }] },
    changes: { $push: { a: { $each: [{ y: 1 }], $sort: { x: 1 } } } },
    server: { a: [{ x: null }, { y: 1 }] },
    mingo: { a: [{ y: 1 }, { x: null }] },
  },
  {
    says: '$push sorts an array among scalars by its least item, and not as an array.',
    before: { a: [1, 'x'] },
    changes: { $push: { a: { $each: [[0]], $sort: 1 } } },
    server: { a: [1, 'x', [0]] },
    mingo: { a: [[0], 1, 'x'] },
  },
  {
    says: '$pull of a value looks into inner arrays.',
    before: { a: [[1, 2], 1] },
    changes: { $pull: { a: 1 } },
    server: { a: [[1, 2]] },
    mingo: { a: [] },
  },
  {
    says: '$pull by criteria on fields removes scalars that fulfil them by lacking the field.',
    before: { a: [null, { y: 1 }] },
    changes: { $pull: { a: { x: null } } },
    server: { a: [null] },
    mingo: { a: [] },
  },
  {
    says: '$pull takes $or for an operator on the item.',
    before: { a: [{ x: 1 }, { y: 1 }] },
    changes: { $pull: { a: { $or: [{ x: 1 }] } } },
    server: { a: [{ y: 1 }] },
    mingo: { a: [{ x: 1 }, { y: 1 }] },
  },
  {
    says: '$pull by a pattern keeps an equal pattern.',
    before: { a: ['a', /a/] },
    changes: { $pull: { a: /a/ } },
    server: { a: [] },
    mingo: { a: [/a/] },
  },
  {
    says: '$pullAll takes a pattern for what it matches.',
    before: { a: ['a', /a/] },
    changes: { $pullAll: { a: [/a/] } },
    server: { a: ['a'] },
    mingo: { a: [] },
  },
  {
    says: '$pullAll looks into inner arrays.',
    before: { a: [[1], 1] },
    changes: { $pullAll: { a: [1] } },
    server: { a: [[1]] },
    mingo: { a: [] },
  },
  {
    says: '$pullAll ignores the order of fields.',
    before: { a: [{ x: 1, y: 2 }] },
    changes: { $pullAll: { a: [{ y: 2, x: 1 }] } },
    server: { a: [{ x: 1, y: 2 }] },
    mingo: { a: [] },
  },
  {
    says: '$rename by a path through an array does nothing, where the server refuses.',
    before: { a: [{ b: 1 }] },
    changes: { $rename: { 'a.b': 'c' } },
    server: 'kind_mismatch',
    mingo: { a: [{ b: 1 }] },
  },
  {
    says: '$rename moves an item of an array, where the server refuses.',
    before: { a: [1, 2] },
    changes: { $rename: { 'a.0': 'b' } },
    server: 'kind_mismatch',
    mingo: { a: [undefined, 2], b: 1 },
  },
];
