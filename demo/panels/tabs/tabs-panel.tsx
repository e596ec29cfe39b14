import { useEffect } from 'preact/hooks';
import { CodeSample, CodeSection } from '../../parts/code-sample.tsx';
import { PanelFrame } from '../../parts/panel.tsx';
import { crash } from './crash.ts';
import { EventLog } from './event-log.tsx';
import { Heap } from './heap.tsx';
import { LeadFigures } from './lead-figures.tsx';
import { followLead } from './lead-story.ts';
import { Note } from './note.tsx';
import boardSource from './recipes/board.ts?raw';
import crashSource from './recipes/crash.ts?raw';
import engineSource from './recipes/engine.ts?raw';
import leadSource from './recipes/lead.ts?raw';
import openSource from './recipes/open.ts?raw';
import { ThisTab } from './this-tab.tsx';
import '../../parts/field.css';
import './tabs-panel.css';

/** Tabs that share one engine: which leads, what each sees of the other, and what happens when the engine ends. */
export function TabsPanel() {
  useEffect(followLead, []);
  return (
    <PanelFrame
      title="One database, any number of tabs."
      lead="The first tab leads: the one engine runs there, and the others ask it. When it is closed or crashes, the next takes over and goes on with all that was acknowledged."
    >
      <LeadFigures />
      <ThisTab />
      <div class="tabs-columns">
        <section class="card tabs-board" aria-labelledby="board-title">
          <h2 id="board-title">The same board in each</h2>
          <p class="soft small">Put two tabs side by side, and write in one of them.</p>
          <div class="tabs-notes">
            <Note note="first" label="First note" />
            <Note note="second" label="Second note" />
          </div>
          <Heap />
        </section>
        <section class="card" aria-labelledby="crash-title">
          <h2 id="crash-title">Now break it</h2>
          <p class="soft small">
            Each of these also lays a stone, in the very moment in which nobody is there to take it.
            Of an error the page is told; silence counts as the end after a second or two.
          </p>
          <div class="tabs-buttons">
            <button type="button" class="button danger" onClick={() => crash('thrown')}>
              Crash the worker
            </button>
            <button type="button" class="button danger" onClick={() => crash('ended')}>
              End it without a word
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
        <CodeSample title="Who leads" source={leadSource} />
        <CodeSample title="A worker that can be ended" source={crashSource} />
        <CodeSample title="… and what runs in it" source={engineSource} />
      </CodeSection>
    </PanelFrame>
  );
}
