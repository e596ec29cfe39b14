import { version } from '../../../package.json';
import { asArray, asInteger, asObject, asString } from '../../codec/exact-json/json-checks.ts';
import { Malformed } from '../../errors/errors.ts';
import { TargetError } from '../calls/target-calls.ts';
import type { PartRef } from './part-store.ts';
import { sha256 } from './sha256.ts';

const FORMAT_NAME = 'cairn-target-backup';

/** The format of new manifests. A change that older readers would not understand increases it. */
const FORMAT_NUMBER = 1;

const HASH = /^[0-9a-f]{64}$/;

/** A backup in a target, as stored. It exists once this is there. */
export interface TargetManifest {
  readonly database: string;
  readonly device: string;
  /** Unix time in milliseconds. */
  readonly created_at: number;
  readonly documents: number;
  /** The lines of a backup file in order: framing lines as they are, records in parts. */
  readonly content: readonly (string | PartRef)[];
}

export function partsOf({ content }: Pick<TargetManifest, 'content'>): PartRef[] {
  return content.filter((piece): piece is PartRef => typeof piece !== 'string');
}

export function bytesOfBackup({ content }: TargetManifest): number {
  let bytes = 0;
  for (const piece of content)
    bytes += typeof piece === 'string' ? new TextEncoder().encode(piece).length : piece[1];
  return bytes;
}

export function writeManifest(manifest: TargetManifest): Promise<Uint8Array> {
  const fields = { format: FORMAT_NAME, format_number: FORMAT_NUMBER, version };
  return writeHashed({ ...fields, ...manifest });
}

/** @throws {TargetError} `target_foreign`, `target_newer`, `target_damaged`. */
export async function readTargetManifest(bytes: Uint8Array, path: string): Promise<TargetManifest> {
  try {
    const fields = await readHashed(bytes, FORMAT_NAME);
    if (!fields) throw foreign(path);
    if (asInteger(fields.format_number, '"format_number"', 1) > FORMAT_NUMBER)
      throw newer(fields.version, path);
    return {
      database: asString(fields.database, '"database"'),
      device: asString(fields.device, '"device"'),
      created_at: asInteger(fields.created_at, '"created_at"', 0),
      documents: asInteger(fields.documents, '"documents"', 0),
      content: asArray(fields.content, '"content"').map(readPiece),
    };
  } catch (cause) {
    if (!(cause instanceof Malformed || cause instanceof SyntaxError)) throw cause;
    throw damaged(path, cause);
  }
}

function readPiece(piece: unknown): string | PartRef {
  if (typeof piece === 'string') return piece;
  const [hash, size] = asArray(piece, 'a part');
  if (!HASH.test(asString(hash, 'a hash'))) throw new Malformed('a hash is none');
  return [hash as string, asInteger(size, 'a size', 1)];
}

function foreign(place: string): TargetError {
  const message = `${place} is no backup of cairndb. Give the target a folder or prefix of its own.`;
  return new TargetError('target_foreign', message, { place });
}

function newer(version: unknown, place: string): TargetError {
  const writer = typeof version === 'string' ? `cairndb ${version}` : 'a later cairndb';
  const message = `The backup ${place} was written by ${writer}: update cairndb to read it.`;
  return new TargetError('target_newer', message, { place });
}

function damaged(place: string, cause: Error): TargetError {
  const message = `The backup ${place} is damaged (${cause.message}). Restore another; list() names them.`;
  return new TargetError('target_damaged', message, { place, cause });
}

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
