const POLYNOMIAL = 0xedb88320;
/** Bytes per step: twice as fast as single bytes. */
const STRIDE = 8;

/** The effect of each byte on the checksum, 0 to 7 bytes later. */
const table = new Int32Array(STRIDE * 256);
for (let byte = 0; byte < 256; byte++) {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
  table[byte] = crc;
}
for (let at = 256; at < table.length; at++) {
  const before = table[at - 256] as number;
  table[at] = (before >>> 8) ^ (table[before & 255] as number);
}

/** Incremental CRC-32 of gzip, which common tools can compute. */
export class Crc32 {
  #crc = -1;

  update(bytes: Uint8Array): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let crc = this.#crc;
    let at = 0;
    for (const end = bytes.length - STRIDE; at <= end; at += STRIDE) {
      const first = view.getInt32(at, true) ^ crc;
      const second = view.getInt32(at + 4, true);
      crc =
        (table[0x700 | (first & 255)] as number) ^
        (table[0x600 | ((first >>> 8) & 255)] as number) ^
        (table[0x500 | ((first >>> 16) & 255)] as number) ^
        (table[0x400 | (first >>> 24)] as number) ^
        (table[0x300 | (second & 255)] as number) ^
        (table[0x200 | ((second >>> 8) & 255)] as number) ^
        (table[0x100 | ((second >>> 16) & 255)] as number) ^
        (table[second >>> 24] as number);
    }
    for (; at < bytes.length; at++) {
      crc = (crc >>> 8) ^ (table[(crc ^ view.getUint8(at)) & 255] as number);
    }
    this.#crc = crc;
  }

  /** Eight hexadecimal digits. */
  digest(): string {
    return (~this.#crc >>> 0).toString(16).padStart(8, '0');
  }
}
