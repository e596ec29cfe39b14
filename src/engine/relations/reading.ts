import type { Coroutine } from '../../async/coroutine.ts';
import { TransactionError } from '../../errors/errors.ts';
import type { RelatedAsk, RelationPlan } from '../../protocol/relation-protocol.ts';
import type { CollectionContext, OperationContext } from '../collection-context.ts';
import { type Instant, lateReads } from '../find/late-reads.ts';

/** How often a read begins anew, before it gives up. */
const ATTEMPTS = 5;

/**
 * Reads several collections as of one instant. Begins anew where that can be shown no more: a
 * backup has replaced a collection meanwhile, or too much was changed. A transaction does so by
 * itself.
 *
 * @throws {TransactionError} `transaction_expired`
 */
export function* ofOneInstant<T>(
  { reads }: OperationContext,
  read: () => Coroutine<T>,
): Coroutine<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return yield* read();
    } catch (error) {
      if (reads || !(error instanceof TransactionError)) throw error;
      if (attempt === ATTEMPTS)
        throw new TransactionError(
          'transaction_expired',
          `Each of ${ATTEMPTS} attempts to read these collections as of one instant took as long as more than 100,000 changes. Narrow the criteria, or give what is looked up an index.`,
        );
    }
  }
}

/** What one read sees of its collections: all as of one instant. */
export class RelatedReading {
  readonly context: OperationContext;
  /** How conditions were resolved, for `explain`. */
  readonly plans: RelationPlan[] = [];
  readonly #partners: ReadonlyMap<number | string, object>;
  /** Outside of a transaction, which has views of its own. */
  readonly #instant: Instant | undefined;
  readonly #views = new Map<object, OperationContext>();
  readonly #pins: (() => void)[] = [];

  /** Begins a read. Must be released, and unpinned once what it has found is delivered. */
  constructor(context: OperationContext, { contexts = new Map() }: RelatedAsk) {
    this.#partners = contexts;
    if (!context.reads)
      this.#instant = lateReads.takeInstant((context as CollectionContext).snapshots);
    this.context = this.#viewOf(context);
    // At once: the instant is the same for all.
    for (const partner of contexts.keys()) this.contextOf(partner);
  }

  has(partner: number | string): boolean {
    return this.#partners.has(partner);
  }

  contextOf(partner: number | string): OperationContext {
    const context = this.#partners.get(partner) as OperationContext;
    // Of a backup, or a transaction: what it shows of its own collection.
    const isOwn = context.settings.name === this.context.settings.name;
    return isOwn ? this.context : this.#viewOf(context);
  }

  release(): void {
    this.#instant?.release();
  }

  /** Lets compaction go on. */
  unpin(): void {
    for (const unpin of this.#pins.splice(0)) unpin();
  }

  #viewOf(context: OperationContext): OperationContext {
    if (!this.#instant) return context;
    let view = this.#views.get(context);
    if (!view) {
      const records = this.#instant.viewOf((context as CollectionContext).records);
      this.#pins.push(records.pin());
      view = { ...context, records };
      this.#views.set(context, view);
    }
    return view;
  }
}
