import type { WireError } from '../wire/wire-error.ts';

/** A message of a page to the worker of a file. */
export type FileRequest =
  /** The first message: the direction of the conversion. */
  | { readonly kind: 'write' | 'read' }
  /** The page wants the next value of the output. */
  | { readonly kind: 'next' }
  /** The answer to `pull`; without a value at the end of the input. */
  | { readonly kind: 'input'; readonly value?: unknown }
  | { readonly kind: 'ping' };

/** A message of the worker of a file to its page. */
export type FileReply =
  /** The worker wants the next value of the input. */
  | { readonly kind: 'pull' }
  /** The answer to `next`; without a value at the end of the output. */
  | { readonly kind: 'output'; readonly value?: unknown }
  | { readonly kind: 'failure'; readonly error: WireError }
  | { readonly kind: 'pong' };
