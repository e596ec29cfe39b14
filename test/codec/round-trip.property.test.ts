import { expect, test } from 'vitest';
import { copyHeld, encodeMade, peek } from '../../src/codec/body.ts';
import { decode, encode, encodeAndCopy } from '../../src/codec/capture.ts';
import { fc, runs } from '../setup/properties.ts';
import { leaves, strings, valuesOf } from './arbitrary-values.ts';

const values = valuesOf(leaves);

/** The objects inside a value, itself included. */
function* objectsIn(value: unknown): Generator<object> {
  if (typeof value !== 'object' || value === null) return;
  yield value;
  if (ArrayBuffer.isView(value)) yield value.buffer;
  const inside =
    value instanceof Map ? [...value].flat() : value instanceof Set ? value : Object.values(value);
  for (const item of inside) yield* objectsIn(item);
}

test('a round trip equals a structured clone', () => {
  fc.assert(
    fc.property(values, (value) => {
      const body = encode(value, 'value');
      const clone = structuredClone(value);
      expect(decode(body)).toStrictEqual(clone);
      expect(peek(body)).toStrictEqual(clone);
      // As on its way to a worker or to storage.
      expect(decode(structuredClone(body))).toStrictEqual(clone);
    }),
    runs(2000),
  );
});

test('a value made of stored ones is encoded as one of the caller', () => {
  fc.assert(
    fc.property(values, (value) => {
      const body = encode(value, 'value');
      expect(encodeMade(peek(body))).toStrictEqual(body);
    }),
    runs(2000),
  );
});

test('a cached decoded value is returned as a deep copy', () => {
  fc.assert(
    fc.property(values, (value) => {
      const body = encode(value, 'value');
      fc.pre(typeof body === 'string');
      const decoded = { value: peek(body) };
      const { value: out } = copyHeld(decoded, { ...decoded }) as { value: unknown };
      expect(out).toStrictEqual(structuredClone(value));
      const own = new Set(objectsIn(decoded));
      for (const object of objectsIn(out)) expect(own.has(object)).toBe(false);
    }),
    runs(2000),
  );
});

test('a round trip keeps the order of keys', () => {
  fc.assert(
    fc.property(
      fc.dictionary(
        strings.filter((key) => key !== '__proto__'),
        fc.integer(),
      ),
      (value) => {
        const decoded = decode(encode(value, 'value')) as object;
        expect(Object.keys(decoded)).toEqual(Object.keys(value));
      },
    ),
  );
});

test('a decoded value shares no object with its source or with other decoded values', () => {
  fc.assert(
    fc.property(values, (value) => {
      const { body, copy } = encodeAndCopy(value, 'value');
      expect(copy).toStrictEqual(structuredClone(value));
      const seen = new Set<object>([...objectsIn(value), ...objectsIn(peek(body))]);
      for (const own of [copy, decode(body), decode(body)]) {
        const objects = [...objectsIn(own)];
        for (const object of objects) expect(seen.has(object)).toBe(false);
        for (const object of objects) seen.add(object);
      }
    }),
  );
});

test('a value is encoded as a string exactly if JSON keeps it', () => {
  fc.assert(
    fc.property(values, (value) => {
      const isString = typeof encode(value, 'value') === 'string';
      let kept = false;
      try {
        expect(JSON.parse(JSON.stringify(value))).toStrictEqual(structuredClone(value));
        kept = true;
      } catch {
        kept = false;
      }
      expect(isString).toBe(kept);
    }),
  );
});
