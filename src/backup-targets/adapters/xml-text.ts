const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
};

/** The text of all elements of a name, whatever their namespace's prefix: workers and Node have no XML parser. */
export function elementsOf(xml: string, name: string): string[] {
  const element = new RegExp(
    `<(?:[\\w-]+:)?${name}(?:\\s[^>]*)?>([^]*?)</(?:[\\w-]+:)?${name}>`,
    'g',
  );
  return Array.from(xml.matchAll(element), ([, text = '']) => text);
}

/** The text of an element without elements in it. */
export function textOf(content: string): string {
  return content.replaceAll(/&(#x[\da-f]+|#\d+|\w+);/gi, (whole, entity: string) => {
    if (entity[0] !== '#') return ENTITIES[entity] ?? whole;
    const code = /^#x/i.test(entity)
      ? Number.parseInt(entity.slice(2), 16)
      : Number(entity.slice(1));
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}
