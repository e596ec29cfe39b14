import { type Check, checkOptions, flag, integer, isAbortSignal } from './options/option-checks.ts';

/** Options of `db.transaction()`. */
export interface TransactionOptions {
  /** How often the function runs again because of a conflict. @default 5 */
  retries?: number | undefined;
  /** Whether to wait until the changes are in storage. @default false */
  durable?: boolean | undefined;
  /**
   * Aborts the transaction: the promise rejects with the signal's reason. A commit in flight may
   * still take effect.
   */
  signal?: AbortSignal | undefined;
}

const checks: Readonly<Record<string, Check>> = {
  retries: integer(0, undefined, 5),
  durable: flag,
  signal: { allowed: 'an AbortSignal', test: isAbortSignal },
};

/** @throws {OptionError} */
export function parseTransactionOptions(options: unknown): {
  readonly retries: number;
  readonly durable: boolean;
  readonly signal: AbortSignal | undefined;
} {
  return checkOptions(options ?? {}, checks, 'transaction') as never;
}
