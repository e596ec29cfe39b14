import { vi } from 'vitest';
import { systemClock } from '../../src/async/clock.ts';
import type { Coroutine } from '../../src/async/coroutine.ts';
import { ReplicaRequests } from '../../src/engine/replication/replica-requests.ts';
import type { ReplicaOperations } from '../../src/protocol/replica-protocol.ts';
import { ConflictResolution } from '../../src/replication/rounds/conflict-resolution.ts';
import { SegmentPool } from '../../src/storage/segments/log-bodies.ts';
import { Random } from '../setup/random.ts';
import { ReplicationSimulation, type SimulationMode } from './replication-simulation.ts';
import { withoutCryptoTime } from './sealed-documents.ts';
import { slowCode } from './slow-code.ts';

type Listed = ReplicaOperations['replicaChanges']['reply'];

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
  const endPool = simulation.readsLate && withoutPool();
  const { resolve } = ConflictResolution.prototype;
  ConflictResolution.prototype.resolve = async function (...args) {
    const resolved = await resolve.apply(this, args);
    simulation.decided(resolved);
    return resolved;
  };
  const { execute } = ReplicaRequests.prototype;
  ReplicaRequests.prototype.execute = function* (request): Coroutine<unknown> {
    const reply = yield* execute.call(this, request);
    if (request.op === 'replicaChanges') simulation.listed((reply as Listed).rows);
    if (request.op === 'replicaApply') simulation.listed(reply as Listed['rows']);
    return reply;
  };
  try {
    return await simulation.run();
  } finally {
    ReplicaRequests.prototype.execute = execute;
    ConflictResolution.prototype.resolve = resolve;
    process.off('unhandledRejection', simulation.unhandled);
    after.mockRestore();
    chance.mockRestore();
    if (endPool) endPool();
    if (endSlowCode) endSlowCode();
    if (wall) wall.mockRestore();
    if (endCrypto) endCrypto();
  }
}

/** No document that was read stays in memory, as where there are more than fit. */
function withoutPool(): () => void {
  const keep = vi.spyOn(SegmentPool.prototype, 'keep').mockImplementation(() => undefined);
  return () => keep.mockRestore();
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

/** The same, where documents name files: attachments, which the other program changes as well. */
export const runCouchFiles = (seed: number): Promise<string[]> =>
  runReplication(seed, process.env.TRACE === 'all' ? console.log : undefined, 'couchdb files');

/** Both: files that the server cannot read. */
export const runEncryptedFiles = (seed: number): Promise<string[]> =>
  runReplication(seed, process.env.TRACE === 'all' ? console.log : undefined, 'encrypted files');
