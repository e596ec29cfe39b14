import type { WireError } from '../wire/wire-error.ts';

/** What a page says to the worker of a file. */
export type FileRequest =
  /** The first message: which way the worker converts. */
  | { readonly kind: 'write' | 'read' }
  /** The page wants the next value of the output. */
  | { readonly kind: 'next' }
  /** The answer to `pull`; without a value at the end of the input. */
  | { readonly kind: 'input'; readonly value?: unknown }
  | { readonly kind: 'ping' };

/** What the worker of a file says to its page. */
export type FileReply =
  /** The worker wants the next value of the input. */
  | { readonly kind: 'pull' }
  /** The answer to `next`; without a value at the end of the output. */
  | { readonly kind: 'output'; readonly value?: unknown }
  | { readonly kind: 'failure'; readonly error: WireError }
  | { readonly kind: 'pong' };
