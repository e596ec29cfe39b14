import { machine as publishedMachine } from 'virtual:published-figures';
import cairnSource from '../../../bench/page/peers/cairn.mjs?raw';
import dexieSource from '../../../bench/page/peers/dexie.mjs?raw';
import { CodeSample, CodeSection } from '../../parts/code-sample.tsx';
import { formatNumber } from '../../parts/format.ts';
import { PanelFrame } from '../../parts/panel.tsx';
import { Segmented } from '../../parts/segmented.tsx';
import { StatusText } from '../../parts/status-text.tsx';
import { Chart } from './chart.tsx';
import { SHOWN } from './figures.ts';
import { machine } from './machine.ts';
import { CONTENDERS } from './peers.ts';
import {
  cancelRace,
  figures,
  measuredSize,
  race,
  raceProblem,
  racing,
  rounds,
  SIZES,
  size,
} from './race.ts';
import './speed-panel.css';

/** Four databases measured in the visitor's browser. */
export function SpeedPanel() {
  return (
    <PanelFrame
      title="Measure it yourself."
      lead="Each database gets the same documents and queries, in turns, in your browser. Every result is checked. The charts also show where another one is faster."
    >
      <section class="card" aria-labelledby="race-title">
        <h2 id="race-title">Benchmark</h2>
        <div class="race-controls">
          <Segmented
            legend="How many documents"
            name="size"
            options={SIZES.map((each) => [each, formatNumber(Number(each))])}
            value={size.value}
            onChange={(value) => {
              size.value = value;
            }}
          />
          <Segmented
            legend="Rounds"
            name="rounds"
            options={[
              ['1', 'Once'],
              ['3', 'Three times'],
            ]}
            value={rounds.value}
            onChange={(value) => {
              rounds.value = value;
            }}
          />
          {racing.value ? (
            <button type="button" class="button" onClick={cancelRace}>
              Stop
            </button>
          ) : (
            <button type="button" class="button primary" onClick={race}>
              Run
            </button>
          )}
        </div>
        <StatusText text={racing.value || news()} problem={raceProblem.value} part="racing" />
        <div class="charts">
          {SHOWN.map((shown) => (
            <Chart key={shown.title} shown={shown} figures={figures.value} />
          ))}
        </div>
        <p class="soft small">
          Medians. Other programs slow all databases alike: compare within one run.
        </p>
        <p class="race-machine soft small" data-part="machine">
          {measuredSize.value === undefined
            ? `${publishedMachine}, 10,000 documents.`
            : `${machine()}, ${formatNumber(measuredSize.value)} documents.`}
        </p>
      </section>
      <section aria-labelledby="contenders-title">
        <h2 id="contenders-title">Databases and their configuration</h2>
        <dl class="contenders">
          {CONTENDERS.map(({ peer, name, version }) => (
            <div key={name}>
              <dt>
                {name} <span class="soft figures">{version}</span>
              </dt>
              <dd class="soft small">{peer.usage}</dd>
            </div>
          ))}
        </dl>
      </section>
      <CodeSection>
        <CodeSample title="How Cairn is used" source={cairnSource} />
        <CodeSample title="How Dexie is used" source={dexieSource} />
      </CodeSection>
    </PanelFrame>
  );
}

function news(): string {
  if (measuredSize.value === undefined) return 'Measured by us. Run it on your device.';
  return figures.value.size === 0 ? 'No results yet.' : 'Shorter is better.';
}
