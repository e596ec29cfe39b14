import { asObject, asString, Malformed } from '../../codec/exact-json/json-checks.ts';
import { sha256 } from '../content/sha256.ts';

/** One line of JSON, and one with its hash. */
export async function writeHashed(fields: Readonly<Record<string, unknown>>): Promise<Uint8Array> {
  const line = JSON.stringify(fields);
  return new TextEncoder().encode(`${line}\n${JSON.stringify({ sha256: await sha256(line) })}\n`);
}

/**
 * @param format The beginning of the line.
 * @returns `undefined` if it is something else.
 * @throws {Malformed} or {SyntaxError} if it was changed.
 */
export async function readHashed(
  bytes: Uint8Array,
  format: string,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const [line = '', end = '', rest] = new TextDecoder().decode(bytes).split('\n');
  if (!line.startsWith(`{"format":"${format}",`)) return undefined;
  const expected = asString(asObject(JSON.parse(end), 'the last line').sha256, 'its hash');
  if (rest !== '' || (await sha256(line)) !== expected) throw new Malformed('it was changed');
  return asObject(JSON.parse(line), 'the line');
}
