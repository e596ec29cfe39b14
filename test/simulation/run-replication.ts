import { vi } from 'vitest';
import { systemClock } from '../../src/async/clock.ts';
import { ConflictResolution } from '../../src/replication/rounds/conflict-resolution.ts';
import { Random } from '../setup/random.ts';
import { ReplicationSimulation, type SimulationMode } from './replication-simulation.ts';
import { withoutCryptoTime } from './sealed-documents.ts';
import { slowCode } from './slow-code.ts';

/**
 * Runs browsers whose tabs replicate with a server, while tabs, storage and network fail as the
 * seed has it.
 *
 * @param mode Whether the code of parts comes late, or not at all; whether documents name files,
 *   or are encrypted; whether tabs look into groups of documents.
 * @returns what went wrong; nothing, if all is well.
 */
export async function runReplication(
  seed: number,
  trace?: (line: string) => void,
  mode: SimulationMode = '',
): Promise<string[]> {
  const simulation = new ReplicationSimulation(seed, trace, mode);
  const random = new Random(seed);
  const after = vi.spyOn(systemClock, 'after').mockImplementation(simulation.after);
  const chance = vi.spyOn(Math, 'random').mockImplementation(() => random.next());
  const endSlowCode =
    mode === 'slow code' && slowCode(seed, simulation.world, simulation.mayLackCode);
  const wall =
    mode.endsWith('files') &&
    vi.spyOn(Date, 'now').mockImplementation(() => 1_700_000_000_000 + simulation.world.now);
  const endCrypto = mode.startsWith('encrypted') && withoutCryptoTime();
  process.on('unhandledRejection', simulation.unhandled);
  const { resolve } = ConflictResolution.prototype;
  ConflictResolution.prototype.resolve = async function (...args) {
    const resolved = await resolve.apply(this, args);
    simulation.decided(resolved);
    return resolved;
  };
  try {
    return await simulation.run();
  } finally {
    ConflictResolution.prototype.resolve = resolve;
    process.off('unhandledRejection', simulation.unhandled);
    after.mockRestore();
    chance.mockRestore();
    if (endSlowCode) endSlowCode();
    if (wall) wall.mockRestore();
    if (endCrypto) endCrypto();
  }
}

/** The same, with documents that the server cannot read. */
export const runEncrypted = (seed: number): Promise<string[]> =>
  runReplication(seed, process.env.TRACE === 'all' ? console.log : undefined, 'encrypted');

/** The same, with documents that name files. */
export const runFiles = (seed: number): Promise<string[]> =>
  runReplication(seed, process.env.TRACE === 'all' ? console.log : undefined, 'files');

/** The same, where changes come by streams of events. */
export const runStreams = (seed: number): Promise<string[]> =>
  runReplication(seed, process.env.TRACE === 'all' ? console.log : undefined, 'streams');

/** The same, where the server is CouchDB, to which another program writes. */
export const runCouch = (seed: number): Promise<string[]> =>
  runReplication(seed, process.env.TRACE === 'all' ? console.log : undefined, 'couchdb');

/** Both: files that the server cannot read. */
export const runEncryptedFiles = (seed: number): Promise<string[]> =>
  runReplication(seed, process.env.TRACE === 'all' ? console.log : undefined, 'encrypted files');
