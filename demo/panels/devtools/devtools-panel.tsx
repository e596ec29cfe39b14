import 'cairndb/devtools';
import { useComputed, useSignal, useSignalEffect } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { cities, connection } from '../../database/database.ts';
import { CodeSample } from '../../parts/code-sample.tsx';
import { messageOf } from '../../parts/message-of.ts';
import { PanelFrame } from '../../parts/panel.tsx';
import { Problem } from '../../parts/problem.tsx';
import { useLive } from '../../parts/use-live.ts';
import { citiesSource } from '../../sources/cities.ts';
import { ImportControl } from '../../sources/import-control.tsx';
import { mount } from './recipes/mount.ts';
import mountSource from './recipes/mount.ts?raw';
import './devtools-panel.css';

/** The panel docked to the window; it stays while the visitor looks at other panels. */
let undock: (() => void) | undefined;

/** The element of `cairndb/devtools`, over the playground's own database. */
export function DevtoolsPanel() {
  const frame = useRef<HTMLDivElement>(null);
  const problem = useSignal('');
  const isDocked = useSignal(undock !== undefined);
  const query = useComputed(() => cities().liveCount({}, { throttle: 100 }));
  const { data: have } = useLive(query.value);

  useSignalEffect(() => {
    const element = document.createElement('cairn-devtools');
    element.database = connection();
    frame.current?.replaceChildren(element);
  });
  useEffect(() => () => frame.current?.replaceChildren(), []);

  async function dock() {
    undock?.();
    const docked = undock;
    undock = docked ? undefined : await mount(connection());
    isDocked.value = undock !== undefined;
  }

  return (
    <PanelFrame
      title="See what the database does."
      lead="Documents, queries with their plans, live queries, saves, the leader, backups and storage of this playground. One line adds it to your app while you develop."
    >
      <div class="devtools-actions">
        {have !== undefined && (
          <ImportControl source={citiesSource} have={have} label="Load 135,233 cities" />
        )}
        <button
          type="button"
          class="button compact"
          onClick={() =>
            dock().catch((error: unknown) => {
              problem.value = messageOf(error);
            })
          }
        >
          {isDocked.value ? 'Remove it from the other panels' : 'Keep it open in the other panels'}
        </button>
      </div>
      <div class="devtools" ref={frame} />
      <Problem text={problem.value} />
      <CodeSample title="Mount the devtools" source={mountSource} />
    </PanelFrame>
  );
}
