import { vi } from 'vitest';
import { systemClock } from '../../src/async/clock.ts';
import { wait } from '../../src/async/coroutine.ts';
import { parts } from '../../src/engine/parts.ts';
import { loadFailed } from '../../src/errors/errors.ts';
import type { PartName } from '../../src/protocol/parts.ts';
import { Random } from '../setup/random.ts';
import type { World } from './world.ts';

/** Other numbers than those of the simulation with the same seed. */
const APART = 0x5eed;

/**
 * Lets the code of parts come late, or not at all, as the seed has it; now and then it is gone
 * again, as another worker has to load it.
 *
 * @param mayFail Whether it may not come.
 * @returns ends that.
 */
export function slowCode(seed: number, world: World, mayFail: () => boolean): () => void {
  const random = new Random(seed ^ APART);
  if (random.chance(0.5)) return () => undefined;
  const failures = random.chance(0.5) ? random.between(0.3, 0.8) : 0;
  const loaded = new Set<PartName>();
  const loading = new Map<PartName, Promise<never>>();
  const { load } = parts;
  const begin = async (name: PartName): Promise<never> => {
    try {
      await new Promise<void>((resolve) => world.after(random.between(0, 150), undefined, resolve));
      if (mayFail() && random.chance(failures)) loadFailed(new Error('offline'));
      const code = (await load.call(parts, name)) as never;
      loaded.add(name);
      return code;
    } finally {
      loading.delete(name);
    }
  };
  const slowly = vi.spyOn(parts, 'load').mockImplementation(async (name) => {
    if (loaded.has(name)) return (await load.call(parts, name)) as never;
    const begun = loading.get(name) ?? begin(name);
    loading.set(name, begun);
    return begun;
  });
  const need = vi.spyOn(parts, 'need');
  const { need: real } = Object.getPrototypeOf(parts) as typeof parts;
  need.mockImplementation(function* (name) {
    if (loaded.has(name)) return yield* real.call(parts, name);
    return yield* wait(parts.load(name));
  } as typeof parts.need);
  const has = vi.spyOn(parts, 'has').mockImplementation((name) => loaded.has(name));
  for (let times = random.below(6); times > 0; times--)
    world.after(random.between(0, 4000), undefined, () => loaded.clear());
  return () => {
    slowly.mockRestore();
    need.mockRestore();
    has.mockRestore();
  };
}

/** A simulation whose transactions are tried again. */
interface Seeded {
  readonly world: World;
  readonly mayLackCode: () => boolean;
  run(): Promise<string[]>;
}

/** Runs one in which waiting, chance and the arrival of code follow from the seed. */
export async function runSeeded(seed: number, simulation: Seeded): Promise<string[]> {
  const { world, mayLackCode } = simulation;
  const random = new Random(seed);
  // What the function of a transaction waits for when it runs again.
  const after = vi
    .spyOn(systemClock, 'after')
    .mockImplementation((ms, call) => world.after(ms, undefined, call));
  const chance = vi.spyOn(Math, 'random').mockImplementation(() => random.next());
  const endSlowCode = slowCode(seed, world, mayLackCode);
  try {
    return await simulation.run();
  } finally {
    after.mockRestore();
    chance.mockRestore();
    endSlowCode();
  }
}
