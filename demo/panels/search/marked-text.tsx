type Range = readonly [from: number, to: number];

/** Characters in front of the first match, and of an excerpt. */
const BEFORE = 60;
const MOST = 240;

/** A text with its matches marked; of a long one the words around the first. */
export function MarkedText({ text, ranges }: { text: string; ranges: readonly Range[] }) {
  const [first = 0] = ranges[0] ?? [];
  const about = Math.max(0, Math.min(first - BEFORE, text.length - MOST));
  const space = text.indexOf(' ', about);
  const from = about > 0 && space >= 0 && space < first ? space + 1 : about;
  const end = text.lastIndexOf(' ', from + MOST);
  const to = text.length > from + MOST && end > first ? end : Math.min(text.length, from + MOST);
  const shown = ranges.filter(([start, end]) => start >= from && end <= to);
  let last = from;
  const parts = shown.flatMap(([start, end]) => {
    const part = [text.slice(last, start), <mark key={start}>{text.slice(start, end)}</mark>];
    last = end;
    return part;
  });
  return (
    <>
      {from > 0 && '… '}
      {parts}
      {text.slice(last, to)}
      {to < text.length && ' …'}
    </>
  );
}
