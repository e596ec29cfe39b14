import type { RelatedAsk, RelationPlan } from '../../protocol/relation-protocol.ts';
import type { CollectionContext, OperationContext } from '../collection-context.ts';
import { type Instant, lateReads } from '../find/late-reads.ts';

/** What one read sees of its collections: all as of one instant. */
export class RelatedReading {
  /** The collection that is asked. */
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
