import { tables } from '../../database/own-tables.ts';
import { valueAt } from '../../database/table.ts';
import { formatCount, formatSpan } from '../../parts/format.ts';
import { valueText } from '../../parts/value-text.ts';
import { answer } from './query.ts';
import './results.css';

/** The first results. */
export function Results() {
  const { table: name, first, ms, explanation } = answer.value ?? {};
  const table = tables.value.find((each) => each.name === name);
  if (!table || !first || ms === undefined) return <div class="results" />;
  const count = explanation?.returned ?? first.length;
  return (
    // A new key per result: replaced cells do not count as layout shifts.
    <section class="results" aria-labelledby="results-title" key={first}>
      <p id="results-title" class="figures" data-part="found">
        <strong>
          {explanation || first.length < 50 ? '' : 'At least '}
          {formatCount(count, ...table.noun)}
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
              {table.columns.map(({ path, title, kind }) => (
                <th key={path} scope="col" data-kind={kind}>
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {first.length === 0 && (
              <tr>
                <td class="soft" colSpan={table.columns.length}>
                  No document matches.
                </td>
              </tr>
            )}
            {first.map((document) => (
              <tr key={document._id}>
                {table.columns.map((column) => (
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
