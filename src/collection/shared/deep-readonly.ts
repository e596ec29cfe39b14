/** What has no fields of its own, or cannot be frozen. */
type Leaf = Date | RegExp | Blob | ArrayBuffer | ArrayBufferView | ((...args: never) => unknown);

/** A value that is read-only on every level. */
export type DeepReadonly<T> = unknown extends T
  ? T
  : T extends Leaf
    ? T
    : T extends ReadonlyMap<infer K, infer V>
      ? ReadonlyMap<DeepReadonly<K>, DeepReadonly<V>>
      : T extends ReadonlySet<infer I>
        ? ReadonlySet<DeepReadonly<I>>
        : T extends object
          ? { readonly [Field in keyof T]: DeepReadonly<T[Field]> }
          : T;
