import { asCairnError, type CairnError } from '../../errors/errors.ts';
import type { CollectionSettings } from '../../protocol/settings.ts';
import type { IndexDefinition } from '../../query/index/index-definition.ts';
import { isSameKey } from '../../query/index/index-key.ts';
import { isIndexRefusal } from './document-index.ts';
import { serves } from './document-indexes.ts';
import type { buildIndexes, KeptCollection, KeptIndexes, storeColumns } from './index-builder.ts';

type Declared = Pick<CollectionSettings, 'indexes' | 'version' | 'born'>;

/** What handles declare, all the same: their indexes, the version of their documents … */
export class IndexDeclaration {
  /** The indexes that are not violated. */
  definitions: readonly IndexDefinition[];
  /** How many open handles declare this. */
  handles = 1;
  /** The error of all calls of the handles: they declare a violated unique index. */
  error: CairnError | undefined;
  /** Resolves when the indexes are ready or have failed; `undefined` afterwards. Never rejects. */
  pending: Promise<void> | undefined;
  /** The version that the handle's code expects. */
  readonly version: number;
  readonly born: number | undefined;
  readonly #given: readonly IndexDefinition[];
  readonly #text: string;
  #settle: () => void = () => undefined;

  constructor(declared: Declared) {
    const { indexes, version, born } = declared;
    this.definitions = indexes;
    this.#given = indexes;
    this.#text = textOf(declared);
    this.version = version;
    this.born = born;
    this.wait();
  }

  /** Whether a handle that declares these indexes can share this one: none of them was violated. */
  isFor(declared: Declared): boolean {
    return this.definitions === this.#given && this.#text === textOf(declared);
  }

  /** Must be called when an index is ready no more. */
  wait(): void {
    this.pending ??= new Promise((resolve) => {
      this.#settle = () => {
        this.pending = undefined;
        resolve();
      };
    });
  }

  settle(): void {
    this.#settle();
  }

  fail(error: CairnError): void {
    this.error = error;
    this.settle();
  }
}

const textOf = ({ indexes, version, born }: Declared) => JSON.stringify([indexes, version, born]);

/** The code that builds indexes, which few openings do. */
interface IndexCode {
  readonly buildIndexes: typeof buildIndexes;
  readonly storeColumns: typeof storeColumns;
}

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
 *
 * docs/decisions/013-indexes-and-plans.md has the reasons.
 */
export class IndexKeeper implements KeptIndexes {
  /** What the collection needs itself, whatever its handles declare. */
  own: IndexDeclaration | undefined;
  readonly collection: () => KeptCollection;
  readonly #code: (definitions: readonly IndexDefinition[]) => Promise<IndexCode>;
  readonly #backUp: Parameters<typeof storeColumns>[1];
  /** The declarations of open handles: few, however many handles there are. */
  readonly #declared = new Set<IndexDeclaration>();
  #state: 'opening' | 'open' | 'closed' = 'opening';
  /** Resolves when no index is being built. */
  #building: Promise<void> | undefined;
  /** Why the code did not come; the next request asks for it again. */
  #late: CairnError | undefined;

  /** @param code Loads it, with that of indexes without an order. */
  constructor(
    collection: () => KeptCollection,
    code: (definitions: readonly IndexDefinition[]) => Promise<IndexCode>,
    backUp: Parameters<typeof storeColumns>[1],
  ) {
    this.collection = collection;
    this.#code = code;
    this.#backUp = backUp;
  }

  get isOpen(): boolean {
    return this.#state === 'open';
  }

  /** Whether a handle is open whose indexes are not violated. */
  get isUsed(): boolean {
    return this.#declared.size > 0;
  }

  /** The collection's own, and those of open handles. */
  get all(): IndexDeclaration[] {
    return this.own ? [this.own, ...this.#declared] : [...this.#declared];
  }

  /**
   * What a request waits for, or fails with: the indexes of its handle, or the collection's own.
   *
   * @param hasWaited Whether it has waited for them before: then code that did not come fails it.
   */
  gateOf<Declaration>(
    declaration: Declaration,
    hasWaited?: boolean,
  ): IndexDeclaration | Declaration {
    if (this.#late && !hasWaited) this.#askAgain();
    const { own } = this;
    return own?.pending || own?.error ? own : declaration;
  }

  /**
   * The union of the declarations of a version: a unique index includes a plain one of the same
   * keys. What handles of another version declare may be violated by these documents.
   */
  declaredFor(version: number): IndexDefinition[] {
    const merged: IndexDefinition[] = [];
    for (const one of this.all) {
      if (one !== this.own && one.version !== version) continue;
      for (const definition of one.definitions) {
        const at = merged.findIndex((other) => isSameKey(other, definition));
        if (at < 0) merged.push(definition);
        else if (definition.unique) merged[at] = definition;
      }
    }
    return merged;
  }

  declare(declared: Declared): IndexDeclaration {
    for (const known of this.#declared)
      if (known.isFor(declared)) {
        known.handles++;
        this.#reopened();
        return known;
      }
    const declaration = new IndexDeclaration(declared);
    this.#declared.add(declaration);
    if (this.#state === 'closed') declaration.settle();
    else this.#reopened();
    return declaration;
  }

  /** Does what an opening of a handle does. */
  #reopened(): void {
    if (!this.isOpen) return;
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
    if (drops && this.isUsed && this.isOpen) this.#dropUndeclared();
  }

  /** Call it when the records are loaded, and when they are replaced. */
  opened(): void {
    this.#state = 'open';
    this.#dropUndeclared();
    // An index that was built over the records before has to be built again.
    this.#askAgain();
  }

  #askAgain(): void {
    if (!this.isOpen) return;
    const late = this.#late;
    this.#late = undefined;
    for (const declaration of this.all) {
      if (late && declaration.error === late) declaration.error = undefined;
      if (!this.#isServed(declaration)) declaration.wait();
    }
    this.#settle();
  }

  /** Call it when the collection becomes unusable. Resolves when no index is being built. */
  async closed(): Promise<void> {
    this.#state = 'closed';
    for (const declaration of this.all) declaration.settle();
    await this.#building;
  }

  /**
   * Gives up an index that refuses a change acknowledged before the index existed.
   *
   * @param error The refusal of the change.
   * @param by The declaration of the handle of the change.
   * @returns whether it is given up: the handle does not declare it.
   */
  giveUp(error: CairnError, by: readonly IndexDefinition[]): boolean {
    if (!isIndexRefusal(error)) return false;
    const { indexes } = this.collection();
    const slot = indexes.all.find(({ definition }) => definition.name === error.place);
    if (!slot || by.some((own) => own.unique && isSameKey(own, slot.definition))) return false;
    indexes.drop(slot);
    if (this.isOpen)
      for (const declaration of this.all)
        if (declaration.definitions.some((one) => isSameKey(one, slot.definition)))
          declaration.wait();
    this.refuse([slot.definition], error);
    this.#settle();
    return true;
  }

  /** Makes the handles fail that declare one of these as unique. */
  refuse(definitions: readonly IndexDefinition[], error: CairnError): void {
    for (const declaration of this.#declared) {
      const isMeant = (own: IndexDefinition) =>
        own.unique && definitions.some((one) => isSameKey(one, own));
      if (declaration.version !== this.#version || !declaration.definitions.some(isMeant)) continue;
      this.#declared.delete(declaration);
      declaration.fail(error);
    }
    this.#dropUndeclared();
  }

  #dropUndeclared(): void {
    const { indexes } = this.collection();
    const declared = this.declaredFor(this.#version);
    for (const slot of indexes.all) {
      const { definition } = slot;
      // A plain index serves until the unique one of the same keys is ready.
      if (!declared.some((other) => serves(other, definition))) indexes.drop(slot);
    }
  }

  /** Unblocks handles whose indexes are ready; builds the missing indexes. */
  #settle(): void {
    if (!this.isOpen) return;
    for (const declaration of this.all) if (this.#isServed(declaration)) declaration.settle();
    if (this.#building || this.#late || this.#missing().length === 0) return;
    this.#building = this.#buildAll().finally(() => {
      this.#building = undefined;
      this.#settle();
    });
  }

  get #version(): number {
    return this.collection().records.log.version;
  }

  #isServed({ definitions }: IndexDeclaration): boolean {
    return definitions.every((one) => this.#isReady(one));
  }

  #isReady(declared: IndexDefinition): boolean {
    return this.collection().indexes.all.some(
      ({ phase, definition }) => phase === 'ready' && serves(definition, declared),
    );
  }

  #missing(): IndexDefinition[] {
    return this.declaredFor(this.#version).filter((definition) => !this.#isReady(definition));
  }

  async #buildAll(): Promise<void> {
    let code: IndexCode | undefined;
    for (
      let missing = this.#missing();
      this.isOpen && missing.length > 0;
      missing = this.#missing()
    ) {
      try {
        code = await this.#code(missing);
      } catch (cause) {
        this.#postpone(asCairnError(cause));
        return;
      }
      await code.buildIndexes(this, missing);
      this.#settle();
    }
    if (code && this.isOpen) await code.storeColumns(this.collection(), this.#backUp);
  }

  /** Meanwhile queries do without a plain index, and handles fail without a unique one. */
  #postpone(error: CairnError): void {
    this.#late = error;
    for (const declaration of this.all) {
      const isNeeded = (one: IndexDefinition) => one.unique || declaration === this.own;
      if (declaration.definitions.some((one) => isNeeded(one) && !this.#isReady(one)))
        declaration.error = error;
      declaration.settle();
    }
    this.collection().events.failed(error);
  }
}
