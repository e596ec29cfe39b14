import { Bars } from '../../parts/bars.tsx';
import { valueText } from '../../parts/value-text.ts';

type Group = { readonly _id?: unknown; readonly [field: string]: unknown };

/** The groups that a pipeline gives, as bars of their first number. */
export function Groups({ groups }: { groups: readonly Group[] }) {
  const [first] = groups;
  const field = first && Object.keys(first).find((key) => isNumber(first[key]) && key !== '_id');
  if (!field || groups.length < 2 || !groups.every((group) => '_id' in group)) return null;
  const bars = groups.slice(0, MOST_BARS).map((group) => ({
    name: valueText(group._id) || 'none',
    value: Number(group[field]),
  }));
  return (
    <section class="card" aria-labelledby="groups-title" data-part="groups">
      <h2 id="groups-title">
        <code>{field}</code> by group
      </h2>
      <Bars bars={bars} />
      {groups.length > MOST_BARS && (
        <p class="soft small">The first {MOST_BARS}; the table has all.</p>
      )}
    </section>
  );
}

const MOST_BARS = 24;

const isNumber = (value: unknown): boolean => typeof value === 'number';
