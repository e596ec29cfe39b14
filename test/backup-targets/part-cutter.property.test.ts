import { expect, test } from 'vitest';
import { type CutPiece, PartCutter } from '../../src/backup-targets/runs/upload.ts';
import { fc, runs } from '../setup/properties.ts';

const LEAST = 64 * 1024;
const MOST = 1024 * 1024;

const line = fc.oneof(
  { weight: 20, arbitrary: fc.tuple(fc.nat(), fc.integer({ min: 0, max: 5000 })) },
  { weight: 1, arbitrary: fc.tuple(fc.nat(), fc.integer({ min: 100_000, max: 1_500_000 })) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('{"format":"cairn-backup"}', '{"end":true,"documents":1}'),
  },
);

const textOf = (of: string | [number, number]): string =>
  typeof of === 'string' ? of : `{"key":"k${of[0]}","body":"${'x'.repeat(of[1])}"}`;

function cut(bytes: Uint8Array<ArrayBuffer>, sizes: readonly number[]): CutPiece[] {
  const cutter = new PartCutter();
  const pieces: CutPiece[] = [];
  for (let at = 0, step = 0; at < bytes.length; step++) {
    const size = sizes[step % sizes.length] as number;
    pieces.push(...cutter.push(bytes.slice(at, at + size)));
    at += size;
  }
  pieces.push(...cutter.end());
  return pieces;
}

const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const shown = (piece: CutPiece): string => ('text' in piece ? piece.text : decode(piece.part));

const lines = fc.array(line, { minLength: 1, maxLength: 120 });
const chunks = fc.array(fc.integer({ min: 1, max: 200_000 }), { minLength: 1, maxLength: 5 });
const settings = runs(40);

test('the pieces are the lines, cut between lines, whatever the chunks', () => {
  fc.assert(
    fc.property(lines, chunks, chunks, (given, some, others) => {
      const text = given.map((of) => `${textOf(of)}\n`).join('');
      const bytes = new TextEncoder().encode(text);
      const pieces = cut(bytes, some);
      expect(pieces.map(shown).join('') === text).toBe(true);
      expect(cut(bytes, others).map(shown)).toEqual(pieces.map(shown));
      for (const piece of pieces) {
        const content = shown(piece);
        expect(content.endsWith('\n')).toBe(true);
        const isFraming = /^\{"(format|end)"/.test(content);
        expect('text' in piece).toBe(isFraming);
        if (isFraming) expect(content.indexOf('\n')).toBe(content.length - 1);
        const last = content.lastIndexOf('\n', content.length - 2);
        // All lines but the last one leave room.
        expect(last + 1).toBeLessThan(MOST);
      }
      // Only the part before a framing line, or the last, may be small.
      for (const [at, piece] of pieces.entries()) {
        const next = pieces[at + 1];
        if ('part' in piece && next && 'part' in next)
          expect(piece.part.length).toBeGreaterThanOrEqual(LEAST);
      }
    }),
    settings,
  );
});

test('a line that is added or removed changes only the parts around it', () => {
  const rows = Array.from(
    { length: 20_000 },
    (_, n) => `{"key":"k${n}","order":${n},"body":{"n":${n}}}`,
  );
  const partsOf = (texts: readonly string[]) =>
    cut(new TextEncoder().encode(texts.map((row) => `${row}\n`).join('')), [65_536]).map(shown);
  const before = new Set(partsOf(rows));
  for (const at of [0, 777, 10_000, 19_999]) {
    const without = partsOf(rows.toSpliced(at, 1));
    const fresh = without.filter((part) => !before.has(part));
    expect(fresh.length).toBeLessThanOrEqual(2);
  }
});
