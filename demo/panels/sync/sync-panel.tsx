import { CodeSample, CodeSection } from '../../parts/code-sample.tsx';
import { PanelFrame } from '../../parts/panel.tsx';
import { DeviceCard } from './device-card.tsx';
import { world } from './devices.ts';
import { MergeList } from './merge-list.tsx';
import countSource from './recipes/count-look-and-show.ts?raw';
import decideSource from './recipes/decide.ts?raw';
import deviceSource from './recipes/open-device.ts?raw';
import lineSource from './recipes/open-line.ts?raw';
import serverSource from './recipes/start-server.ts?raw';
import watchSource from './recipes/watch-server.ts?raw';
import { ServerCard } from './server-card.tsx';
import { Story } from './story.tsx';
import './sync-panel.css';

/** Two devices that replicate with a server in the page. */
export function SyncPanel() {
  const [phone, laptop] = world.value.devices;
  return (
    <PanelFrame
      title="Two devices, one list."
      lead="Each device has its own database and works without a network. Back online they exchange changes through the server, and merge what both have changed. The server runs in this page, so nothing leaves it."
    >
      <Story />
      <div class="sync-devices">
        <DeviceCard device={phone} />
        <ServerCard />
        <DeviceCard device={laptop} />
      </div>
      <MergeList />
      <CodeSection>
        <CodeSample title="Replicate a collection" source={deviceSource} />
        <CodeSample title="Count, look at a part, show a photo" source={countSource} />
        <CodeSample title="The server" source={serverSource} />
        <CodeSample title="Decide a conflict by hand" source={decideSource} />
        <CodeSample title="A network that can be cut" source={lineSource} />
        <CodeSample title="Watch the server" source={watchSource} />
      </CodeSection>
    </PanelFrame>
  );
}
