import { checkOptions, milliseconds, name } from '../api/options/option-checks.ts';
import { OptionError } from '../errors/errors.ts';
import type { DatabaseClient } from '../page/client/database-client.ts';
import type { OutboxAction } from './call-sender.ts';
import { checkActions, Outbox, type OutboxSettings, outboxEnvironment } from './outbox.ts';

export type { CallFailure, OutboxAction, PendingCall, SendContext } from './call-sender.ts';
export type {
  ActionCalls,
  Outbox,
  OutboxEvents,
  OutboxStatus,
  PendingCalls,
  QueuedCall,
} from './outbox.ts';
export { OutboxError, type OutboxErrorCode, type OutboxErrorDetails } from './outbox-error.ts';

/** Options of {@link outbox}. */
export interface OutboxOptions {
  /** The collection that keeps the calls. @default 'cairn_outbox' */
  readonly collection?: string | undefined;
  /** Milliseconds for one attempt; then the call is sent again. @default 60000 */
  readonly timeout?: number | undefined;
  /**
   * Tag of the background sync that each call requests, where the browser has it. The service
   * worker listens: `addEventListener('sync', box.onSync)`.
   */
  readonly sync_tag?: string | undefined;
}

// biome-ignore lint/suspicious/noExplicitAny: inputs are inferred from the functions
type AnyActions = Readonly<Record<string, OutboxAction<any>>>;

/** The input of an action: as `local` declares it, or `send`. */
type InputOf<Action> = Action extends { local: (tx: never, input: infer Input) => unknown }
  ? unknown extends Input
    ? SentInput<Action>
    : Input
  : SentInput<Action>;

type SentInput<Action> = Action extends { send: (input: infer Input, context: never) => unknown }
  ? Input
  : never;

/** Of each client, by collection. */
const outboxes = new WeakMap<object, Map<string, Outbox<object>>>();

/**
 * Calls to a server that wait for it: an action changes the database at once, is stored with that
 * change in one transaction, and is sent when the server can be reached, by one page for all, in
 * order, until it is through. Call it in every page with the same actions.
 *
 * @throws {OptionError} with the option or the action; `option_conflict` where this client has the
 *   outbox already.
 *
 * @example
 * ```ts
 * const { actions } = outbox(db, {
 *   createOrder: {
 *     local: (tx, order: Order) => tx(orders).insert(order),
 *     send: (order, { key, signal }) =>
 *       fetch('/orders', {
 *         method: 'POST',
 *         headers: { 'idempotency-key': key },
 *         body: JSON.stringify(order),
 *         signal,
 *       }),
 *     refused: (tx, order) => tx(orders).delete(order._id),
 *   },
 * });
 * const { id, sent } = await actions.createOrder({ _id: 'o1', item: 'lamp' });
 * ```
 */
export function outbox<Actions extends AnyActions>(
  db: DatabaseClient,
  actions: Actions & {
    readonly [Name in keyof Actions]: OutboxAction<InputOf<Actions[Name]>>;
  },
  options: OutboxOptions = {},
): Outbox<{ readonly [Name in keyof Actions]: InputOf<Actions[Name]> }> {
  if (typeof (db as Partial<DatabaseClient> | undefined)?.transaction !== 'function')
    throw new OptionError('option_invalid', 'outbox() takes a database or connection.', {
      place: 'db',
    });
  const settings = checkOptions(
    options,
    {
      collection: { ...name, required: false, fallback: 'cairn_outbox' },
      timeout: { ...milliseconds, fallback: 60_000 },
      sync_tag: { ...name, required: false },
    },
    'outbox(db, actions, options)',
  ) as unknown as OutboxSettings;
  const { collection: place } = settings;
  const known = outboxes.get(db) ?? new Map<string, Outbox<object>>();
  outboxes.set(db, known);
  if (known.get(place)?.isStopped === false) {
    const message = `This client has the outbox "${place}" already: share that, or stop() it.`;
    throw new OptionError('option_conflict', message, { place });
  }
  const box = new Outbox<object>(db, checkActions(actions), settings, outboxEnvironment);
  known.set(place, box);
  return box as never;
}
