import { tables } from '../../database/own-tables.ts';
import { type Column, valueAt } from '../../database/table.ts';
import { formatCount, formatSpan } from '../../parts/format.ts';
import { valueText } from '../../parts/value-text.ts';
import { answer } from './query.ts';
import './results.css';

/** The first results. */
export function Results() {
  const { table: name, first, ms, explanation, stages } = answer.value ?? {};
  const table = tables.value.find((each) => each.name === name);
  if (!table || !first || ms === undefined) return <div class="results" />;
  const count = explanation?.returned ?? first.length;
  const columns = stages === undefined ? table.columns : columnsOf(first);
  const noun = stages === undefined ? table.noun : (['result', 'results'] as const);
  const isWhole = explanation !== undefined || stages !== undefined || first.length < 50;
  return (
    // A new key per result: replaced cells do not count as layout shifts.
    <section class="results" aria-labelledby="results-title" key={first}>
      <p id="results-title" class="figures" data-part="found">
        <strong>
          {isWhole ? '' : 'At least '}
          {formatCount(count, ...noun)}
        </strong>
        <span class="soft">
          , {count > first.length ? `the first ${first.length}` : 'all'} delivered in{' '}
          {formatSpan(ms)}
        </span>
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys */}
      <section class="results-scroller" tabIndex={0} aria-label="Results">
        <table>
          <thead>
            <tr>
              {columns.map(({ path, title, kind }) => (
                <th key={path} scope="col" data-kind={kind}>
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {first.length === 0 && (
              <tr>
                <td class="soft" colSpan={columns.length}>
                  No document matches.
                </td>
              </tr>
            )}
            {first.slice(0, MOST_ROWS).map((document, place) => (
              <tr key={place}>
                {columns.map((column) => (
                  <td key={column.path} data-kind={column.kind}>
                    {valueText(valueAt(document, column.path))}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </section>
  );
}

const MOST_ROWS = 200;

type Shown = Pick<Column, 'path' | 'title' | 'kind'>;

/** The columns of what a pipeline makes. */
function columnsOf(results: readonly object[]): readonly Shown[] {
  const kinds = new Map<string, Column['kind']>();
  for (const [path, value] of results.slice(0, MOST_ROWS).flatMap((one) => Object.entries(one)))
    if (!kinds.has(path)) kinds.set(path, typeof value === 'number' ? 'number' : 'text');
  return Array.from(kinds, ([path, kind]) => ({ path, title: path, kind }));
}
