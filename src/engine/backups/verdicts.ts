import type { Defect, VerificationResult } from '../../backup/segment-verifier.ts';
import { lostBackup } from '../../backup/snapshots.ts';
import type { LostSnapshot } from '../../backup/stored-snapshots.ts';
import type { Storage } from '../../storage/drivers/driver.ts';
import { findManifest } from '../../storage/log/open-log.ts';

/** A result about nothing at all. */
const NOTHING = { whole: true, documents: 0, segments: 0, bytes: 0, problems: [] };

/** The result for a backup that is missing from storage, or damaged there. */
export function lostVerdict(collection: string, one: LostSnapshot): VerificationResult {
  const { message } = lostBackup(collection, one);
  const code = one.key ? 'backup_damaged' : 'backup_missing';
  return withDefect({ code, segment: undefined, message }, NOTHING);
}

/** What is wrong with the stored manifest. */
export async function manifestDefect(storage: Storage, name: string): Promise<Defect | undefined> {
  if (await findManifest(storage, name)) return undefined;
  const [value] = await storage.getMany('collections', [[name]]);
  const state = value === undefined ? 'missing' : 'damaged';
  const message = `The manifest, which lists the segments, is ${state}.`;
  return { code: `manifest_${state}`, segment: undefined, message };
}

export function withDefect(
  defect: Defect | undefined,
  result: VerificationResult,
): VerificationResult {
  return defect ? { ...result, whole: false, problems: [defect, ...result.problems] } : result;
}
