import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { CodeSample, CodeSection } from '../../parts/code-sample.tsx';
import { PanelFrame } from '../../parts/panel.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Segmented } from '../../parts/segmented.tsx';
import { OutcomeCard } from './outcome-card.tsx';
import { Pulse } from './pulse.tsx';
import closingTabSource from './recipes/closing-tab.ts?raw';
import watchSource from './recipes/watch.ts?raw';
import writeSource from './recipes/write.ts?raw';
import { countRecovered, trialProblem, writeAndClose, writeAndReload, writeOnly } from './trial.ts';
import './durability-panel.css';

/** Unsaved changes, each save, and a page that ends at the worst moment. */
export function DurabilityPanel() {
  const count = useSignal<'1' | '500' | '20000'>('500');
  const waits = useSignal<'acknowledged' | 'saved'>('acknowledged');
  useEffect(() => {
    countRecovered();
  }, []);
  return (
    <PanelFrame
      title="Every change is accounted for."
      lead="Cairn saves a change within a quarter of a second and always knows which changes are unsaved. A page that ends leaves them to the next page, which replays them. End one at the worst moment and see."
    >
      <div class="lost-columns">
        <section class="card" aria-labelledby="pulse-title">
          <h2 id="pulse-title">Saves</h2>
          <Pulse />
        </section>
        <section class="card" aria-labelledby="trial-title">
          <h2 id="trial-title">Try it</h2>
          <div class="trial-choices">
            <Segmented
              legend="How many documents"
              name="count"
              options={[
                ['1', 'One'],
                ['500', '500'],
                ['20000', '20,000'],
              ]}
              value={count.value}
              onChange={(value) => {
                count.value = value;
              }}
            />
            <span class="small">documents. End the page as soon as they are</span>
            <Segmented
              legend="End the page as soon as they are"
              name="waits"
              options={[
                ['acknowledged', 'acknowledged'],
                ['saved', 'saved'],
              ]}
              value={waits.value}
              onChange={(value) => {
                waits.value = value;
              }}
            />
          </div>
          <div class="trial-buttons">
            <button
              type="button"
              class="button primary"
              onClick={() => writeAndClose(Number(count.value), waits.value === 'saved')}
            >
              Write in a tab that closes at once
            </button>
            <button
              type="button"
              class="button"
              onClick={() => writeAndReload(Number(count.value), waits.value === 'saved')}
            >
              Write and reload at once
            </button>
            <button type="button" class="button" onClick={() => writeOnly(Number(count.value))}>
              Only write
            </button>
          </div>
          <div class="outcome-space">
            <Problem text={trialProblem.value} />
            <OutcomeCard />
          </div>
        </section>
      </div>
      <CodeSection>
        <CodeSample title="Write" source={writeSource} />
        <CodeSample title="Write and close the tab" source={closingTabSource} />
        <CodeSample title="Watch unsaved changes" source={watchSource} />
      </CodeSection>
    </PanelFrame>
  );
}
