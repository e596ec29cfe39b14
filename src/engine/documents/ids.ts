import { ValueError } from '../../errors/errors.ts';

/** Generates an id of `length` characters. */
export type IdGenerator = (length: number) => string;

export type RandomSource = (bytes: Uint8Array<ArrayBuffer>) => void;

/** The characters of ids, as documented: letters, digits and `_`. */
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz';
const CODES = Uint8Array.from(ALPHABET, (character) => character.charCodeAt(0));

/** Ids per block. */
const BLOCK = 64;

/**
 * Ids cut from blocks: one request for randomness and one flat string for many. Ids of nanoid,
 * which appends character by character, took a tenth of a bulk insert (docs/decisions/018).
 */
export function idGenerator(fill: RandomSource): IdGenerator {
  const generators = new Map<number, () => string>();
  return (length) => {
    let generate = generators.get(length);
    if (!generate) {
      generate = cutFromBlocks(blockMaker(length * BLOCK, fill), length);
      generators.set(length, generate);
    }
    return generate();
  };
}

/**
 * Makes strings of random characters. Of 64 values of six bits one is skipped, as no character may
 * be likelier.
 */
function blockMaker(length: number, fill: RandomSource): () => string {
  // Some more than are used: a second request is seldom needed.
  const random = new Uint8Array(Math.ceil(length * 1.04));
  const codes = new Uint8Array(length);
  // The decoder is fifteen times faster, and missing in the jsdom of Jest.
  const text = globalThis.TextDecoder && new TextDecoder();
  return () => {
    for (let made = 0; ; ) {
      fill(random);
      for (const byte of random) {
        const value = byte & 63;
        if (value < CODES.length) codes[made++] = CODES[value] as number;
        if (made === length) return text?.decode(codes) ?? String.fromCharCode(...codes);
      }
    }
  };
}

function cutFromBlocks(makeBlock: () => string, length: number): () => string {
  let block = '';
  let used = 0;
  return () => {
    if (used === block.length) {
      block = makeBlock();
      used = 0;
    }
    used += length;
    return block.slice(used - length, used);
  };
}

export function idTaken(collection: string, id: string): ValueError {
  return new ValueError(
    'id_taken',
    `Collection "${collection}" already has a document with the _id "${id}"; update() or upsert() changes it.`,
    { place: '_id' },
  );
}
