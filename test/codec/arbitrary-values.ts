import fc from 'fast-check';

/** Strings of all kinds, including lone surrogates. */
export const strings = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc
    .array(fc.constantFrom('a', '\uD800', '\uDC00', '"', '\\', '\0', '\u2028'), { maxLength: 4 })
    .map((all) => all.join('')),
);

/** Scalar values. */
export const leaves: fc.Arbitrary<unknown>[] = [
  strings,
  fc.double(),
  fc.bigInt(),
  fc.date({ noInvalidDate: false }),
  fc.constantFrom<unknown>(
    -0,
    Number.NaN,
    undefined,
    null,
    true,
    /a[b]+/gimsuy,
    new Date(Number.NaN),
  ),
  fc.uint8Array({ maxLength: 5 }),
  fc.float64Array({ maxLength: 3 }),
  fc.uint8Array({ maxLength: 5 }).map((bytes) => bytes.slice().buffer),
  // A view of the middle of a buffer.
  fc
    .uint8Array({ minLength: 8, maxLength: 8 })
    .map((bytes) => new DataView(bytes.slice().buffer, 2, 4)),
];

/** Storable values with these leaves. */
export function valuesOf(inside: fc.Arbitrary<unknown>[]): fc.Arbitrary<unknown> {
  return fc.oneof(
    fc.anything({
      key: strings.filter((key) => key !== '__proto__'),
      values: inside,
      withMap: true,
      withSet: true,
      withSparseArray: true,
      withNullPrototype: true,
      maxDepth: 4,
    }),
    fc.jsonValue().filter((value) => !JSON.stringify(value).includes('__proto__')),
  );
}
