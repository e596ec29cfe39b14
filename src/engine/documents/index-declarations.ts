import type { CairnError } from '../../errors/cairn-error.ts';
import type { IndexDefinition } from '../../query/index/index-definition.ts';
import { isSameKey } from './index-slot.ts';

/** The indexes that one handle declares. */
export class IndexDeclaration {
  /** The indexes that are not violated. */
  definitions: readonly IndexDefinition[];
  /** The error of all calls of the handle: it declares a violated unique index. */
  error: CairnError | undefined;
  /** Resolves when the indexes are ready or have failed; `undefined` afterwards. Never rejects. */
  pending: Promise<void> | undefined;
  #settle: () => void = () => undefined;

  constructor(definitions: readonly IndexDefinition[]) {
    this.definitions = definitions;
    this.pending = new Promise((resolve) => {
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

/** The declarations of the open handles of a collection. */
export class IndexDeclarations extends Set<IndexDeclaration> {
  /** The union of all declarations: a unique index includes a plain one of the same keys. */
  get definitions(): IndexDefinition[] {
    const merged: IndexDefinition[] = [];
    for (const { definitions } of this) {
      for (const definition of definitions) {
        const at = merged.findIndex((other) => isSameKey(other, definition));
        if (at < 0) merged.push(definition);
        else if (definition.unique) merged[at] = definition;
      }
    }
    return merged;
  }
}
