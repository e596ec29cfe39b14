import { useComputed, useSignal } from '@preact/signals';
import type { DocumentCollection } from 'cairndb';
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { cities, connection } from '../../database/database.ts';
import { CodeSample, CodeSection } from '../../parts/code-sample.tsx';
import { messageOf } from '../../parts/message-of.ts';
import { PanelFrame } from '../../parts/panel.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Segmented } from '../../parts/segmented.tsx';
import { useLive } from '../../parts/use-live.ts';
import { MarkedText } from './marked-text.tsx';
import { openManual, type Section } from './recipes/open-manual.ts';
import openSource from './recipes/open-manual.ts?raw';
import { openCities, searchCities } from './recipes/search-cities.ts';
import citiesSource from './recipes/search-cities.ts?raw';
import { searchManual } from './recipes/search-manual.ts';
import searchSource from './recipes/search-manual.ts?raw';
import '../../parts/field.css';
import './search-panel.css';

const CORPORA = [
  ['docs', 'Docs'],
  ['cities', 'Cities'],
] as const;

type Corpus = (typeof CORPORA)[number][0];

/** Search over the docs, or the cities, as the visitor types. */
export function SearchPanel() {
  const corpus = useSignal<Corpus>('docs');
  const problem = useSignal<string | undefined>(undefined);
  return (
    <PanelFrame
      title="Search that is there at once."
      lead="The words of the documents are an index in the engine: all tabs share one, and a reload builds nothing. Cairn's own docs are here, and the cities, once they are loaded in Data."
    >
      <Problem text={problem.value} />
      <section class="card search" data-part="search">
        <Segmented
          legend="Corpus"
          name="corpus"
          options={CORPORA}
          value={corpus.value}
          onChange={(value) => {
            corpus.value = value;
          }}
        />
        {corpus.value === 'docs' ? <Manual problem={problem} /> : <Cities />}
      </section>
      <CodeSection>
        <CodeSample title="Declare the index" source={openSource} />
        <CodeSample title="Search as you type" source={searchSource} />
        <CodeSample title="The cities" source={citiesSource} />
      </CodeSection>
    </PanelFrame>
  );
}

function Manual({ problem }: { problem: { value: string | undefined } }) {
  const manual = useComputed(() => openManual(connection())).value;
  const typed = useSignal('encrypted bakcups');
  const isFilled = useSignal(false);
  const sections = useLive(useMemo(() => manual.liveCount(), [manual]));
  // Not before: nobody should read that nothing is found.
  const live = useMemo(
    () => (isFilled.value ? searchManual(manual, typed.value) : undefined),
    [manual, typed.value, isFilled.value],
  );
  const found = useLive(live);

  useEffect(() => {
    fill(manual).then(
      () => {
        isFilled.value = true;
      },
      (error: unknown) => {
        problem.value = messageOf(error);
      },
    );
  }, [manual, problem, isFilled]);

  return (
    <>
      <Typed label={`Search ${sections.data ?? 0} sections`} typed={typed} />
      <Problem text={found.error?.message} />
      <Hits answer={found.data} none="No section has these words.">
        {found.data?.map(({ document, matches = {} }) => (
          <li key={document._id}>
            <h2>
              <MarkedText text={document.heading} ranges={matches.heading ?? []} />
              {document.page !== document.heading && (
                <span class="soft">
                  {' '}
                  in <MarkedText text={document.page} ranges={matches.page ?? []} />
                </span>
              )}
            </h2>
            <p>
              <MarkedText text={document.text} ranges={matches.text ?? []} />
            </p>
          </li>
        ))}
      </Hits>
    </>
  );
}

function Cities() {
  // Another handle, once the collection was dropped.
  const handle = useComputed(() => {
    cities();
    return openCities(connection());
  }).value;
  const typed = useSignal('san franzisco');
  const count = useLive(useMemo(() => handle.liveCount(), [handle]));
  const found = useLive(useMemo(() => searchCities(handle, typed.value), [handle, typed.value]));

  return (
    <>
      <Typed label={`Search ${(count.data ?? 0).toLocaleString('en')} cities`} typed={typed} />
      <Problem text={found.error?.message} />
      <Hits
        answer={found.data}
        none={count.data ? 'No city has these words.' : 'Load the cities in Data first.'}
      >
        {found.data?.map(({ document, matches = {} }) => (
          <li key={document._id}>
            <h2>
              <MarkedText text={document.name} ranges={matches.name ?? []} />{' '}
              <span class="soft">
                <MarkedText text={document.country} ranges={matches.country ?? []} />
              </span>
            </h2>
          </li>
        ))}
      </Hits>
    </>
  );
}

interface HitsProps {
  readonly answer: readonly unknown[] | undefined;
  /** Said where there are none. */
  readonly none: string;
  readonly children: ComponentChildren;
}

/** Each answer is a list of its own: reading goes on at its top, and nothing moves within it. */
function Hits({ answer, none, children }: HitsProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
    <section class="search-results" tabIndex={0} aria-label="Results">
      <ol key={answer} class="search-hits" aria-label="Hits">
        {children}
      </ol>
      {answer?.length === 0 && <p class="soft">{none}</p>}
    </section>
  );
}

function Typed({ label, typed }: { label: string; typed: { value: string } }) {
  return (
    <label>
      <span>{label}</span>
      <input
        class="field"
        type="search"
        value={typed.value}
        onInput={({ currentTarget }) => {
          typed.value = currentTarget.value;
        }}
      />
    </label>
  );
}

/** Once: the docs of a visit later may be newer, but those of this one are a good corpus too. */
async function fill(manual: DocumentCollection<Section>): Promise<void> {
  if ((await manual.count()) > 0) return;
  const { manualSections } = await import('./manual-sections.ts');
  await manual.upsertMany(
    manualSections().map((section, n) => ({ _id: `section ${n}`, ...section })),
  );
}
