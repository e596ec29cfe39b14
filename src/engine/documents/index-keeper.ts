import { run } from '../../async/coroutine.ts';
import { asCairnError, type CairnError } from '../../errors/errors.ts';
import type { IndexDefinition } from '../../query/index/index-definition.ts';
import { isSameKey } from '../../query/index/index-key.ts';
import type { CollectionContext } from '../collection-context.ts';
import { IndexDeclaration, type IndexDeclarations } from './document-indexes.ts';
import { IndexBuilder, lackingColumns, writeColumns } from './index-builder.ts';

/** Makes a backup before segments are rewritten. */
type BackUp = (cause: { reason: 'indexes' }) => Promise<unknown>;

/**
 * Maintains the union of the indexes that the open handles of a collection declare. A handle that
 * declares more adds its indexes while the others go on; one that declares fewer uses the existing
 * ones. The next opening of a handle drops undeclared indexes. A violated unique index makes only
 * the handles fail that declare it.
 *
 * ```
 * opening ──opened──▶ open ──closed──▶ closed
 *                      ▲ └──restored──┘  │
 *                      └─────opened──────┘
 * ```
 */
export class IndexKeeper {
  readonly #context: CollectionContext;
  readonly #backUp: BackUp;
  readonly #declared: IndexDeclarations;
  #state: 'opening' | 'open' | 'closed' = 'opening';
  /** Resolves when no index is being built. */
  #building: Promise<void> | undefined;

  constructor(context: CollectionContext, backUp: BackUp) {
    this.#context = context;
    this.#backUp = backUp;
    this.#declared = context.declared;
  }

  declare(definitions: readonly IndexDefinition[], version: number): IndexDeclaration {
    for (const known of this.#declared)
      if (known.isFor(definitions, version)) {
        known.handles++;
        this.#reopened();
        return known;
      }
    const declaration = new IndexDeclaration(definitions, version);
    this.#declared.add(declaration);
    if (this.#state === 'closed') declaration.settle();
    else this.#reopened();
    return declaration;
  }

  /** Does what an opening of a handle does. */
  #reopened(): void {
    if (this.#state !== 'open') return;
    this.#dropUndeclared();
    this.#settle();
  }

  /**
   * @param drops Whether undeclared indexes are dropped at once instead of at the next opening of a
   *   handle.
   */
  retract(declaration: IndexDeclaration, drops = false): void {
    if (--declaration.handles > 0) return;
    this.#declared.delete(declaration);
    declaration.settle();
    if (drops && this.#declared.size > 0 && this.#state === 'open') this.#dropUndeclared();
  }

  /** Call it when the records are loaded, and when they are replaced. */
  opened(): void {
    this.#state = 'open';
    this.#dropUndeclared();
    // An index that was built over the records before has to be built again.
    for (const declaration of this.#declared.all)
      if (!this.#isServed(declaration)) declaration.wait();
    this.#settle();
  }

  /** Call it when the collection becomes unusable. Resolves when no index is being built. */
  async closed(): Promise<void> {
    this.#state = 'closed';
    for (const declaration of this.#declared.all) declaration.settle();
    await this.#building;
  }

  /**
   * Gives up a unique index for a change acknowledged before the index existed.
   *
   * @param error The refusal of the change.
   * @param by The declaration of the handle of the change.
   * @returns whether it is given up: the handle does not declare it.
   */
  giveUp(error: CairnError, by: readonly IndexDefinition[]): boolean {
    if (error.code !== 'unique_violation') return false;
    const { indexes } = this.#context;
    const slot = indexes.all.find(({ definition }) => definition.name === error.place);
    if (!slot || by.some((own) => own.unique && isSameKey(own, slot.definition))) return false;
    indexes.drop(slot);
    const { own } = this.#declared;
    if (this.#state === 'open' && own?.definitions.some((one) => isSameKey(one, slot.definition)))
      own.wait();
    this.#refuse([slot.definition], error);
    this.#settle();
    return true;
  }

  /** Makes the handles fail that declare one of these as unique. */
  #refuse(definitions: readonly IndexDefinition[], error: CairnError): void {
    for (const declaration of this.#declared) {
      const isMeant = ({ unique, ...own }: IndexDefinition) =>
        unique && definitions.some((one) => isSameKey(one, { unique, ...own }));
      if (declaration.version !== this.#version || !declaration.definitions.some(isMeant)) continue;
      this.#declared.delete(declaration);
      declaration.fail(error);
    }
    this.#dropUndeclared();
  }

  #dropUndeclared(): void {
    const { indexes } = this.#context;
    const declared = this.#declared.of(this.#version);
    for (const slot of indexes.all) {
      const { definition } = slot;
      // A plain index serves until the unique one of the same keys is ready.
      const isDeclared = declared.some(
        (other) => isSameKey(other, definition) && (other.unique || !definition.unique),
      );
      if (!isDeclared) indexes.drop(slot);
    }
  }

  /** Unblocks handles whose indexes are ready; builds the missing indexes. */
  #settle(): void {
    if (this.#state !== 'open') return;
    for (const declaration of this.#declared.all)
      if (this.#isServed(declaration)) declaration.settle();
    if (this.#building || this.#missing().length === 0) return;
    this.#building = this.#buildAll().finally(() => {
      this.#building = undefined;
      this.#settle();
    });
  }

  get #version(): number {
    return this.#context.records.log.version;
  }

  #isServed({ definitions }: IndexDeclaration): boolean {
    return definitions.every((one) => this.#isReady(one));
  }

  #isReady(declared: IndexDefinition): boolean {
    return this.#context.indexes.all.some(
      ({ phase, definition }) =>
        phase === 'ready' &&
        isSameKey(definition, declared) &&
        (definition.unique || !declared.unique),
    );
  }

  #missing(): IndexDefinition[] {
    return this.#declared.of(this.#version).filter((definition) => !this.#isReady(definition));
  }

  async #buildAll(): Promise<void> {
    for (
      let missing = this.#missing();
      this.#state === 'open' && missing.length > 0;
      missing = this.#missing()
    ) {
      await this.#build(missing);
      this.#settle();
    }
    if (this.#state === 'open') await this.#store();
  }

  async #build(missing: readonly IndexDefinition[]): Promise<void> {
    const { indexes, records, events } = this.#context;
    const slots = indexes.add(missing);
    const isOver = () => this.#state !== 'open' || this.#context.indexes !== indexes;
    try {
      const builder = new IndexBuilder(records, indexes, slots, isOver);
      const violations = await run(builder.build(events));
      for (const [{ definition }, error] of violations ?? []) this.#refuse([definition], error);
      if (violations) return;
    } catch (cause) {
      this.#fail(missing, asCairnError(cause));
    }
    for (const slot of slots) indexes.drop(slot);
  }

  /**
   * Documents could not be read: queries work without a plain index; handles fail without a unique
   * one, and all of them where nobody knows what has expired.
   */
  #fail(missing: readonly IndexDefinition[], error: CairnError): void {
    this.#refuse(missing, error);
    for (const declaration of this.#declared.all)
      declaration.definitions = declaration.definitions.filter(
        (own) => !missing.some((one) => isSameKey(one, own)),
      );
    const { own } = this.#declared;
    if (own?.definitions.length === 0) own.fail(error);
    this.#context.events.failed(error);
  }

  /** Writes missing columns of segments. */
  async #store(): Promise<void> {
    const { records, indexes, saves, events } = this.#context;
    if (lackingColumns(records, indexes).length === 0) return;
    try {
      await this.#backUp({ reason: 'indexes' });
      await saves.alone(() => writeColumns(records, indexes));
    } catch (error) {
      // A full disk must not prevent reads, or deletes that make room.
      events.failed(asCairnError(error));
    }
  }
}
