import { useEffect } from 'preact/hooks';
import { CodeSample, CodeSection } from '../../parts/code-sample.tsx';
import { PanelFrame } from '../../parts/panel.tsx';
import { crash } from './crash.ts';
import { EventLog } from './event-log.tsx';
import { followLead } from './failover-log.ts';
import { Heap } from './heap.tsx';
import { LeadFigures } from './lead-figures.tsx';
import { Note } from './note.tsx';
import boardSource from './recipes/board.ts?raw';
import crashSource from './recipes/crash.ts?raw';
import engineSource from './recipes/engine.ts?raw';
import leadSource from './recipes/lead.ts?raw';
import openSource from './recipes/open.ts?raw';
import { ThisTab } from './this-tab.tsx';
import '../../parts/field.css';
import './tabs-panel.css';

/** Tabs that share one engine: leader, shared data, failover. */
export function TabsPanel() {
  useEffect(followLead, []);
  return (
    <PanelFrame
      title="One database, any number of tabs."
      lead="One tab is the leader and runs the engine; the others send it their calls. When it closes or crashes, another tab takes over with every acknowledged change."
    >
      <LeadFigures />
      <ThisTab />
      <div class="tabs-columns">
        <section class="card tabs-board" aria-labelledby="board-title">
          <h2 id="board-title">The shared board</h2>
          <p class="soft small">Put two tabs side by side and write in one.</p>
          <div class="tabs-notes">
            <Note note="first" label="First note" />
            <Note note="second" label="Second note" />
          </div>
          <Heap />
        </section>
        <section class="card" aria-labelledby="crash-title">
          <h2 id="crash-title">Break it</h2>
          <p class="soft small">
            Each button also lays a stone while no engine can take it. The page notices an error at
            once, and a silent worker after one or two seconds.
          </p>
          <div class="tabs-buttons">
            <button type="button" class="button danger" onClick={() => crash('thrown')}>
              Crash the worker
            </button>
            <button type="button" class="button danger" onClick={() => crash('ended')}>
              Terminate it silently
            </button>
          </div>
          <div class="tabs-events">
            <EventLog />
          </div>
        </section>
      </div>
      <CodeSection>
        <CodeSample title="Open it in every tab" source={openSource} />
        <CodeSample title="A board that all tabs share" source={boardSource} />
        <CodeSample title="Watch the leader" source={leadSource} />
        <CodeSample title="A worker that can be terminated" source={crashSource} />
        <CodeSample title="Its script" source={engineSource} />
      </CodeSection>
    </PanelFrame>
  );
}
