/**
 * A hash of 32 bits of a text. Each step is a bijection of its lane, so a change within four
 * characters is always noticed. Hot path: pairs of characters in two lanes take two thirds of the
 * time of FNV-1a. docs/decisions/037-integrity.md has the figures.
 */
export function hashText(text: string): number {
  // Multipliers of MurmurHash3. As constants of the module they made this take up to three times as
  // long: once V8 knows several closures of the function, it reads them from memory in each step.
  const A = 0xcc9e2d51;
  const B = 0x1b873593;
  // Not as a method of the text: V8 notes the kinds of strings that a method was called on
  // (sequential, joined, sliced, internalized, of one or two bytes), and after more than four it
  // looks the method up for each character. Keys and names are of many kinds, and hashing documents
  // took five times as long ever after.
  const { charCodeAt } = String.prototype;
  const { length } = text;
  // One to four characters stay for the loop behind: where all keys were of a length that left it
  // none, V8 compiled that loop without feedback, and hashing documents took three to five times as
  // long ever after.
  const whole = (length - 1) & ~3;
  // Not the length itself, which the first characters could cancel.
  let even = Math.imul(length + 1, 0x85ebca6b);
  let odd = B;
  let at = 0;
  for (; at < whole; at += 4) {
    even = Math.imul(even ^ (charCodeAt.call(text, at) | (charCodeAt.call(text, at + 1) << 16)), A);
    even = (even << 13) | (even >>> 19);
    odd = Math.imul(
      odd ^ (charCodeAt.call(text, at + 2) | (charCodeAt.call(text, at + 3) << 16)),
      B,
    );
    odd = (odd << 15) | (odd >>> 17);
  }
  for (; at < length; at++) even = mix(even, charCodeAt.call(text, at));
  let hash = even ^ Math.imul(odd, 0xc2b2ae35);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}

export function mix(hash: number, word: number): number {
  // A multiplier of MurmurHash3, too.
  const mixed = Math.imul(hash ^ word, 0xcc9e2d51);
  return (mixed << 13) | (mixed >>> 19);
}
