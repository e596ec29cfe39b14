import type { CairnError } from '../../errors/cairn-error.ts';
import type { IndexDefinition } from '../../query/index/index-definition.ts';
import { isSameKey } from './index-slot.ts';

/** The indexes that handles declare, all the same, and the version of their documents. */
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
  readonly #given: readonly IndexDefinition[];
  #settle: () => void = () => undefined;

  constructor(definitions: readonly IndexDefinition[], version: number) {
    this.definitions = definitions;
    this.#given = definitions;
    this.version = version;
    this.wait();
  }

  /** Whether a handle that declares these indexes can share this one: none of them was violated. */
  isFor(definitions: readonly IndexDefinition[], version: number): boolean {
    const { definitions: own } = this;
    if (this.version !== version || own !== this.#given || own.length !== definitions.length)
      return false;
    return definitions.every((one, at) => {
      const other = own[at] as IndexDefinition;
      return isSameKey(one, other) && one.unique === other.unique && one.name === other.name;
    });
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

/** The declarations of the open handles of a collection: few, however many handles there are. */
export class IndexDeclarations extends Set<IndexDeclaration> {
  /** What the collection needs itself, whatever its handles declare. */
  own: IndexDeclaration | undefined;

  /** Those of the handles, and its own. */
  get all(): IndexDeclaration[] {
    return this.own ? [this.own, ...this] : [...this];
  }

  /** What a request waits for, or fails with: the indexes of its handle, or the collection's own. */
  gateOf<Declaration>(declaration: Declaration): IndexDeclaration | Declaration {
    const { own } = this;
    return own?.pending || own?.error ? own : declaration;
  }

  /**
   * The union of the declarations of a version: a unique index includes a plain one of the same keys. What handles of
   * another version declare may be violated by these documents.
   */
  of(version: number): IndexDefinition[] {
    const merged: IndexDefinition[] = [];
    for (const one of this.all) {
      if (one !== this.own && one.version !== version) continue;
      const { definitions } = one;
      for (const definition of definitions) {
        const at = merged.findIndex((other) => isSameKey(other, definition));
        if (at < 0) merged.push(definition);
        else if (definition.unique) merged[at] = definition;
      }
    }
    return merged;
  }
}
