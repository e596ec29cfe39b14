/**
 * The element that is marked `data-part="name"`, of the given class.
 *
 * @example
 * ```ts
 * const button = part(document, 'import-button', HTMLButtonElement);
 * ```
 */
export function part<E extends Element>(root: ParentNode, name: string, type: new () => E): E {
  const found = root.querySelector(`[data-part="${name}"]`);
  if (found instanceof type) return found;
  throw new Error(`The page has no ${type.name} with data-part="${name}".`);
}

/** A new element from the `<template>` that is marked `data-part="name"`. */
export function copyOf(name: string): HTMLElement {
  const { content } = part(document, name, HTMLTemplateElement);
  const copy = content.firstElementChild?.cloneNode(true);
  if (copy instanceof HTMLElement) return copy;
  throw new Error(`The template "${name}" is empty.`);
}
