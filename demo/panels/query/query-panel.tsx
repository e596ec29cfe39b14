import type { Explanation } from 'cairndb';
import { useEffect } from 'preact/hooks';
import { tables } from '../../database/own-tables.ts';
import { CodeSample, CodeSection } from '../../parts/code-sample.tsx';
import { PanelFrame } from '../../parts/panel.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Comparison } from './comparison.tsx';
import { CriteriaEditor } from './editor/criteria-editor.tsx';
import { EXAMPLES, type Example } from './examples.ts';
import { fieldPaths } from './field-paths.ts';
import { Groups } from './groups.tsx';
import { IndexSwitches } from './index-switches.tsx';
import { FunctionDrawing } from './plan/function-drawing.tsx';
import { PipelineDrawing } from './plan/pipeline-drawing.tsx';
import { PlanDrawing } from './plan/plan-drawing.tsx';
import { Times } from './plan/times.tsx';
import { answer, isRunning, queriedTable, queryError, querySort, queryText, run } from './query.ts';
import { codeOf } from './query-code.ts';
import explainSource from './recipes/explain.ts?raw';
import findSource from './recipes/find.ts?raw';
import openIndexedSource from './recipes/open-indexed.ts?raw';
import totalsSource from './recipes/totals.ts?raw';
import { Results } from './results.tsx';
import '../../parts/field.css';
import './query-panel.css';

/** Criteria, a pipeline or a function, the query plan, and the effect of an index. */
export function QueryPanel() {
  useEffect(() => {
    if (!answer.peek()) run();
  }, []);
  return (
    <PanelFrame
      title="Query, and see the plan."
      lead="Write MongoDB criteria, a pipeline or a function. Every result shows which index it used, how many documents it examined, and where the time went."
    >
      <div class="query-columns">
        <section class="card query-card" aria-label="Query">
          <Choices />
          <CriteriaEditor />
          <fieldset class="examples">
            <legend class="hidden">Examples</legend>
            {EXAMPLES.map((example) => (
              <button
                key={example.name}
                type="button"
                class="button compact"
                onClick={() => show(example)}
              >
                {example.name}
              </button>
            ))}
          </fieldset>
          <div class="query-run">
            <button type="button" class="button primary" disabled={isRunning.value} onClick={run}>
              Run
            </button>
            {!queryError.value && (
              <p class="soft small query-keys">
                <kbd>Ctrl</kbd> <kbd>Enter</kbd> runs, <kbd>Ctrl</kbd> <kbd>Space</kbd> completes
              </p>
            )}
            <Problem id="query-problem" text={queryError.value?.message} />
          </div>
        </section>
        <section class="card" aria-labelledby="plan-title">
          <h2 id="plan-title">Query plan</h2>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys */}
          <section class="plan-space" tabIndex={0} aria-label="Stages">
            <Plan />
          </section>
          <IndexSwitches />
        </section>
      </div>
      {answer.value?.stages === undefined ? (
        <Comparison />
      ) : (
        <Groups groups={answer.value.first as readonly Record<string, unknown>[]} />
      )}
      <Results />
      <CodeSection>
        <CodeSample title="This query, as code" source={codeOf(answer.value ?? asked())} />
        <CodeSample title="Find" source={findSource} />
        <CodeSample title="Explain" source={explainSource} />
        <CodeSample title="Aggregate" source={totalsSource} />
        <CodeSample title="Change the indexes" source={openIndexedSource} />
      </CodeSection>
    </PanelFrame>
  );
}

/** Before the first answer, so that its code has its place already. */
const asked = () => ({
  table: queriedTable.peek(),
  text: queryText.peek(),
  sort: querySort.peek(),
  stages: undefined,
  indexes: [],
});

function Choices() {
  return (
    <div class="query-choices">
      <label>
        <span>Collection</span>
        <select
          class="field"
          value={queriedTable.value}
          onChange={({ currentTarget }) => {
            queriedTable.value = currentTarget.value;
            querySort.value = '';
            queryText.value = '{}';
            run();
          }}
        >
          {tables.value.map(({ name, title }) => (
            <option key={name} value={name}>
              {title}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>Sorted by</span>
        <select
          class="field"
          value={querySort.value}
          onChange={({ currentTarget }) => {
            querySort.value = currentTarget.value;
            run();
          }}
        >
          <option value="">insertion order</option>
          {[...new Set([querySort.value, ...fieldPaths.value])].filter(Boolean).map((path) => (
            <option key={path} value={path}>
              {path}, largest first
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}

function Plan() {
  const { explanation, stages, total, ms, first = [], looked = 0, sort = '' } = answer.value ?? {};
  if (total === undefined || ms === undefined) {
    const text = isRunning.value ? 'Running…' : 'No query yet.';
    // A new key per text: a replaced centred text is no layout shift.
    return (
      <p class="soft plan-none" key={text}>
        {text}
      </p>
    );
  }
  if (total === 0) {
    return (
      <div class="plan-drawing" key="empty">
        <p class="soft plan-none">
          The collection is empty. <a href="#/data">Fill it</a> first.
        </p>
        {explanation && <Drawing explanation={explanation} total={total} sort={sort} />}
      </div>
    );
  }
  if (stages !== undefined) {
    return <PipelineDrawing total={total} stages={stages} returned={first.length} ms={ms} />;
  }
  if (!explanation) {
    return <FunctionDrawing total={total} looked={looked} returned={first.length} ms={ms} />;
  }
  return (
    // A new key per plan: replaced parts are no layout shift.
    <div class="plan-drawing" key={explanation}>
      <Drawing explanation={explanation} total={total} sort={sort} />
      <Times engineMs={explanation.engine_ms} totalMs={explanation.total_ms} />
      <p class="soft small">The fastest of three runs that find all matches.</p>
    </div>
  );
}

interface DrawingProps {
  readonly explanation: Explanation;
  readonly total: number;
  readonly sort: string;
}

function Drawing({ explanation, total, sort }: DrawingProps) {
  const { plan, keys_examined, documents_examined, returned } = explanation;
  return (
    <PlanDrawing
      plan={plan}
      total={total}
      keysExamined={keys_examined}
      documentsExamined={documents_examined}
      returned={returned}
      sort={sort}
    />
  );
}

function show({ text, sort = '' }: Example): void {
  queriedTable.value = 'cities';
  queryText.value = text;
  querySort.value = sort;
  run();
}
