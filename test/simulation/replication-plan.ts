import type { DocumentCollectionOptions } from '../../src/api/options/collection-options.ts';
import { localWins, type Resolver, remoteWins } from '../../src/replication/resolvers.ts';
import type { Random } from '../setup/random.ts';
import type { ServerHabits } from './replication-server.ts';

/** What kind of run a seed makes. */
export interface RunPlan {
  readonly browsers: number;
  /** How long things happen, in milliseconds. */
  readonly busy: number;
  readonly changes: number;
  readonly steps: number;
  /** Documents that most changes are of. */
  readonly documents: number;
  readonly habits: ServerHabits;
  readonly rings: boolean;
  /** How many networks do not fail. */
  readonly calm: number;
  /** Whether most answers to pushes are lost. */
  readonly mute: boolean;
  /** Whether tabs end and freeze. */
  readonly crashes: boolean;
  /** Whether the server goes back to older copies. */
  readonly restores: boolean;
  /** Whether documents come late from storage: those requested later may come first. */
  readonly lateReads: boolean;
  /** Whether browsers go back to backups. */
  readonly loads: boolean;
  /** Whether browsers have parts of the collection; some parts come and go. */
  readonly scoped: boolean;
  /** How many values the server refuses. */
  readonly poison: number;
  readonly collection: Partial<DocumentCollectionOptions>;
  /** `undefined`: the default one, which merges by fields. */
  readonly resolve: Resolver | undefined;
  /** The longest that a decision takes, in milliseconds; it merges by fields. */
  readonly hesitation: number;
}

const SAVING: readonly Partial<DocumentCollectionOptions>[] = [
  {},
  { save_timeout: 0.05 },
  { save_timeout: 1, save_directly_after: 100 },
  { save_timeout: 10, save_directly_after: 100 },
];

export function planOf(random: Random): RunPlan {
  const keys = random.pick(['sent', 'sent', 'kept', 'none'] as const);
  const merges = keys === 'sent' && random.chance(0.6);
  const refuses = random.chance(0.2);
  const stamps = random.chance(0.4);
  const lateReads = random.chance(0.3);
  return {
    browsers: 2 + random.below(3),
    busy: random.between(2000, 15_000),
    changes: 8 + random.below(40),
    steps: random.below(25),
    documents: 1 + random.below(6),
    habits: {
      page: random.pick([2, 5, 500]),
      commit: random.chance(0.4) ? random.between(1, 2000) : 0,
      repeats: random.chance(0.3),
      changes: random.chance(0.2),
      refuses,
      keys,
      merges,
    },
    rings: random.chance(0.6),
    calm: random.chance(0.2) ? 1 : 0.2,
    mute: random.chance(0.3),
    crashes: random.chance(0.6),
    restores: random.chance(0.25),
    lateReads,
    loads: random.chance(0.2),
    scoped: random.chance(0.3),
    poison: refuses ? 0.1 : 0,
    collection: {
      ...random.pick(SAVING),
      caching: !lateReads && random.chance(0.4),
      ...(stamps && { indicate_created_at: true, indicate_updated_at: true }),
    },
    hesitation: random.chance(0.3) ? random.between(10, 1000) : 0,
    resolve: random.chance(0.8) ? undefined : random.pick([remoteWins, localWins]),
  };
}
