import { vi } from 'vitest';
import { systemClock } from '../../src/async/clock.ts';
import { ConflictResolution } from '../../src/replication/rounds/conflict-resolution.ts';
import { Random } from '../setup/random.ts';
import { ReplicationSimulation } from './replication-simulation.ts';
import { slowCode } from './slow-code.ts';

/**
 * Runs browsers whose tabs replicate with a server, while tabs, storage and network fail as the
 * seed has it.
 *
 * @param isCodeSlow Whether the code of parts comes late, or not at all.
 * @returns what went wrong; nothing, if all is well.
 */
export async function runReplication(
  seed: number,
  trace?: (line: string) => void,
  isCodeSlow = false,
): Promise<string[]> {
  const simulation = new ReplicationSimulation(seed, trace);
  const random = new Random(seed);
  const after = vi.spyOn(systemClock, 'after').mockImplementation(simulation.after);
  const chance = vi.spyOn(Math, 'random').mockImplementation(() => random.next());
  const endSlowCode = isCodeSlow && slowCode(seed, simulation.world, simulation.mayLackCode);
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
  }
}
