/** Which collections have unsaved changes that must be saved together: those of a transaction. */
export class SaveLinks<T extends object> {
  readonly #groups = new WeakMap<T, Set<T>>();

  /**
   * Links the members, and all that are linked with one of them. Must be called in the turn of their changes: no save
   * comes in between.
   */
  link(members: Iterable<T>): void {
    const group = new Set<T>();
    for (const member of members) for (const one of this.of(member)) group.add(one);
    for (const one of group) this.#groups.set(one, group);
  }

  /** Those linked with it, itself included. */
  of(member: T): Iterable<T> {
    return this.#groups.get(member) ?? [member];
  }

  /** Must be called when a save takes the changes of the members: later changes are linked anew. */
  release(members: Iterable<T>): void {
    for (const member of members) {
      this.#groups.get(member)?.delete(member);
      this.#groups.delete(member);
    }
  }
}
