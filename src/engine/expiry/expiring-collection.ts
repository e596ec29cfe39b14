import type { CollectionContext, OperationContext } from '../collections/collection-context.ts';
import { ViewContext } from '../collections/view-context.ts';
import { IndexDeclaration } from '../documents/index-declarations.ts';
import type { ExpirySettings } from '../protocol/settings.ts';
import { ExpirySweep, type SweptCollection } from './expiry-sweep.ts';
import { Expiry } from './expiry-times.ts';
import { VisibleRecords } from './visible-records.ts';

/** The parts of a collection with `expire_after`. */
export class ExpiringCollection {
  /** What operations work with: the collection without what has expired. */
  readonly visible: OperationContext;
  readonly sweep: ExpirySweep;

  /** @param context Gets the rules, and an index of its own: without it nothing is answered. */
  constructor(context: CollectionContext, settings: ExpirySettings, collection: SweptCollection) {
    const { records, versions, declared } = context;
    const expiry = new Expiry(context, settings);
    context.expiry = expiry;
    // It counts for documents of every version.
    declared.own = new IndexDeclaration([expiry.definition], 0);
    this.visible = new ViewContext(context, new VisibleRecords(records, expiry), versions);
    this.sweep = new ExpirySweep(context, expiry, collection);
  }
}
