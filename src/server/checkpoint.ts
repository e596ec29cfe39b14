import { toHex } from '../codec/exact-json/base64.ts';
import { ServerError } from './server-error.ts';

/**
 * A place in the history of a collection. docs/decisions/023-replication-server.md says what makes
 * an epoch.
 */
export interface ServerCheckpoint {
  /** Names the history: a restored copy has another. */
  readonly epoch: string;
  /** The number of the last change that the client has. */
  readonly seq: number;
}

/** The checkpoint of a collection that does not exist yet: its history begins later. */
export const START = '0.0';

const FORMAT = /^([0-9a-f]{1,32})\.(\d{1,15})$/;

export const formatCheckpoint = ({ epoch, seq }: ServerCheckpoint): string => `${epoch}.${seq}`;

/** @throws {ServerError} for a checkpoint of another format. */
export function parseCheckpoint(text: string): ServerCheckpoint {
  const [, epoch, seq] = FORMAT.exec(text) ?? [];
  if (epoch !== undefined && seq !== undefined) return { epoch, seq: Number(seq) };
  throw new ServerError('checkpoint_invalid', 'The checkpoint is not one of this server.');
}

/** Hexadecimal digits that no other call returns. */
export function randomHex(bytes: number): string {
  return toHex(crypto.getRandomValues(new Uint8Array(bytes)));
}
