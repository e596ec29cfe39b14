/** Bits of a character from U+4000 to U+BFFF: every browser stores all of these as they are. */
const BITS = 15;
const FIRST = 0x4000;

/**
 * Bytes as text, at 15 bits a character: `localStorage` counts characters. The last one tells the
 * length.
 */
export function packBytes(bytes: Uint8Array): string {
  const codes = new Uint16Array(Math.ceil((bytes.length * 8) / BITS) + 1);
  let count = 0;
  let bits = 0;
  let held = 0;
  for (const byte of bytes) {
    held = (held << 8) | byte;
    bits += 8;
    if (bits < BITS) continue;
    bits -= BITS;
    codes[count++] = FIRST + (held >> bits);
    held &= (1 << bits) - 1;
  }
  if (bits > 0) codes[count++] = FIRST + (held << (BITS - bits));
  codes[count] = FIRST + (bytes.length % BITS);
  let text = '';
  // More arguments than this overflow the stack of some engines.
  const SLICE = 8192;
  for (let at = 0; at < codes.length; at += SLICE)
    text += String.fromCharCode(...codes.subarray(at, at + SLICE));
  return text;
}

/** Reads what {@link packBytes} returns; anything else becomes other bytes. */
export function unpackBytes(text: string): Uint8Array<ArrayBuffer> {
  const count = Math.max(0, text.length - 1);
  const longest = Math.floor((count * BITS) / 8);
  const rest = (text.charCodeAt(count) - FIRST) % BITS;
  // The length is known modulo 15, and the characters leave at most one byte open.
  const length = longest % BITS === rest ? longest : Math.max(0, longest - 1);
  const bytes = new Uint8Array(length);
  let bits = 0;
  let held = 0;
  let at = 0;
  for (let index = 0; index < count && at < length; index++) {
    held = (held << BITS) | (text.charCodeAt(index) - FIRST);
    bits += BITS;
    while (bits >= 8 && at < length) {
      bits -= 8;
      bytes[at++] = held >> bits;
      held &= (1 << bits) - 1;
    }
  }
  return bytes;
}
