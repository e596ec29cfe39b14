import { useComputed, useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { connection } from '../../database/database.ts';
import { CodeSample, CodeSection } from '../../parts/code-sample.tsx';
import { messageOf } from '../../parts/message-of.ts';
import { PanelFrame } from '../../parts/panel.tsx';
import { Problem } from '../../parts/problem.tsx';
import { useLive } from '../../parts/use-live.ts';
import { MarkedText } from './marked-text.tsx';
import { openManual } from './recipes/open-manual.ts';
import openSource from './recipes/open-manual.ts?raw';
import { searchManual } from './recipes/search-manual.ts';
import searchSource from './recipes/search-manual.ts?raw';
import '../../parts/field.css';
import './search-panel.css';

/** Search over the docs, as the visitor types. */
export function SearchPanel() {
  const manual = useComputed(() => openManual(connection())).value;
  const typed = useSignal('encrypted bakcups');
  const problem = useSignal<string | undefined>(undefined);
  const sections = useLive(useMemo(() => manual.liveCount(), [manual]));
  const found = useLive(useMemo(() => searchManual(manual, typed.value), [manual, typed.value]));

  useEffect(() => {
    fill(manual).catch((error: unknown) => {
      problem.value = messageOf(error);
    });
  }, [manual, problem]);

  return (
    <PanelFrame
      title="Search that is there at once."
      lead="The words of the documents are an index in the engine: all tabs share one, and a reload builds nothing. This one has the sections of Cairn's own docs."
    >
      <Problem text={problem.value ?? found.error?.message} />
      <section class="card search" data-part="search">
        <label>
          <span>Search {sections.data ?? 0} sections</span>
          <input
            class="field"
            type="search"
            value={typed.value}
            onInput={({ currentTarget }) => {
              typed.value = currentTarget.value;
            }}
          />
        </label>
        <ol class="search-hits" aria-label="Hits">
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
        </ol>
        {found.data?.length === 0 && <p class="soft">No section has these words.</p>}
      </section>
      <CodeSection>
        <CodeSample title="Declare the index" source={openSource} />
        <CodeSample title="Search as you type" source={searchSource} />
      </CodeSection>
    </PanelFrame>
  );
}

/** Once: the docs of a visit later may be newer, but those of this one are a good corpus too. */
async function fill(manual: ReturnType<typeof openManual>): Promise<void> {
  if ((await manual.count()) > 0) return;
  const { manualSections } = await import('./manual-sections.ts');
  await manual.upsertMany(
    manualSections().map((section, n) => ({ _id: `section ${n}`, ...section })),
  );
}
