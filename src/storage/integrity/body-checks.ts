import type { Body } from '../../codec/body.ts';
import { hashText } from '../../codec/hash-text.ts';
import { checksumOf } from './checksum.ts';

export function bodyChecks(bodies: readonly Body[]): Uint32Array {
  const checks = new Uint32Array(bodies.length);
  for (let index = 0; index < bodies.length; index++)
    checks[index] = checkOf(bodies[index] as Body);
  return checks;
}

/** Whether an encoded document is as it was. @param body Anything may be in storage. */
export function isBodyIntact(body: unknown, check: number | undefined): body is Body {
  if (body === undefined) return false;
  try {
    return checkOf(body) === check;
  } catch {
    // Nested too deep: nothing that was stored.
    return false;
  }
}

/** Encoded documents of a segment, `undefined` in place of each that is damaged. */
export type IntactBodies = readonly (Body | undefined)[];

/**
 * Encoded documents as they are in storage; `undefined` where there are none.
 *
 * @param stored Anything may be in storage.
 */
export function intactBodies(stored: unknown, checks: Uint32Array): IntactBodies | undefined {
  if (!Array.isArray(stored)) return undefined;
  const isIntact = (index: number): boolean => isBodyIntact(stored[index], checks[index]);
  for (let index = 0; index < checks.length; index++) {
    if (isIntact(index)) continue;
    return Array.from(checks, (_, at) => (isIntact(at) ? (stored[at] as Body) : undefined));
  }
  return stored as Body[];
}

/** A text that is taken for a value, or the other way round, has another checksum. */
function checkOf(body: unknown): number {
  return typeof body === 'string' ? hashText(body) : checksumOf(body);
}
