import fc from 'fast-check';
import type { FaultMoment } from '../storage/faulty-driver.ts';

/** How a collection is opened again. */
export interface Reopening {
  readonly caching: boolean;
  readonly indexed: boolean;
}

/** Commands, with operations on backups and faults in between. */
export type BackupStep<Command> =
  | { readonly step: 'command'; readonly command: Command }
  /** Issued concurrently, awaited together. */
  | { readonly step: 'together'; readonly commands: readonly Command[] }
  | { readonly step: 'save' | 'backup' | 'verify' }
  /** By index in the list. */
  | { readonly step: 'load' | 'delete'; readonly pick: number }
  /** Time elapses, or the clock is set. */
  | { readonly step: 'advance' | 'jump'; readonly ms: number }
  | ({ readonly step: 'reload' | 'crash' } & Reopening)
  | { readonly step: 'fault'; readonly when: FaultMoment; readonly after: number };

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const just = <Name extends string>(...names: Name[]) => fc.constantFrom(...names);

/** @param atOnce Commands that may be issued concurrently: each has to be one call. */
export function backupSteps<Command>(
  command: fc.Arbitrary<Command>,
  atOnce: fc.Arbitrary<Command>,
): fc.Arbitrary<BackupStep<Command>[]> {
  const pick = fc.nat(9);
  const reopening = { caching: fc.boolean(), indexed: fc.boolean() };
  const step: fc.Arbitrary<BackupStep<Command>> = fc.oneof(
    { weight: 16, arbitrary: fc.record({ step: just('command'), command }) },
    {
      weight: 5,
      arbitrary: fc.record({
        step: just('together'),
        commands: fc.array(atOnce, { minLength: 2, maxLength: 8 }),
      }),
    },
    { weight: 6, arbitrary: fc.record({ step: just('save', 'backup', 'backup') }) },
    { weight: 1, arbitrary: fc.record({ step: just('verify') }) },
    { weight: 4, arbitrary: fc.record({ step: just('load'), pick }) },
    { weight: 2, arbitrary: fc.record({ step: just('delete'), pick }) },
    {
      weight: 3,
      arbitrary: fc.record({
        step: just('advance'),
        ms: fc.constantFrom(1000, 11 * 60_000, HOUR, DAY, 5 * DAY),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        step: just('jump'),
        ms: fc.constantFrom(-DAY, 3652 * DAY, -3652 * DAY),
      }),
    },
    { weight: 2, arbitrary: fc.record({ step: just('reload', 'crash'), ...reopening }) },
    {
      weight: 2,
      arbitrary: fc.record({
        step: just('fault'),
        when: fc.constantFrom<FaultMoment>('before', 'after'),
        after: fc.nat(2),
      }),
    },
  );
  return fc.array(step, { minLength: 1, maxLength: 60 });
}
