import type { ReplicationState } from 'cairndb/replication';
import { formatClock, formatCount } from '../../parts/format.ts';
import { Segmented } from '../../parts/segmented.tsx';
import { Switch } from '../../parts/switch.tsx';
import type { Device } from './device.ts';
import { attempt } from './devices.ts';
import { ItemList } from './item-list.tsx';
import './device-card.css';

const STATES: Readonly<Record<ReplicationState, string>> = {
  idle: 'In sync',
  pulling: 'Pulling',
  pushing: 'Pushing',
  offline: 'Offline',
  waiting: 'Waiting',
  needs_auth: 'Needs a login',
  failed: 'Failed',
  paused: 'Paused',
  elsewhere: 'Opening', // each device is of this page alone: until it has found that out
  stopped: 'Stopped',
};

/** A device: its network, its items, and what its replication reports. */
export function DeviceCard({ device }: { device: Device }) {
  const { title, isOnline, hasBakery, status } = device;
  const id = title.toLowerCase();
  const { state, pending } = status.value;
  return (
    <section class="card device" aria-labelledby={`${id}-title`} data-device={id}>
      <header class="device-head">
        <h2 id={`${id}-title`}>{title}</h2>
        <Switch
          label={
            <>
              <span class="hidden">{title} </span>online
            </>
          }
          checked={isOnline.value}
          onChange={device.setOnline}
        />
      </header>
      <dl class="device-status small figures">
        <div data-state={state}>
          <dt>State</dt>
          <dd data-part={`${id}-state`}>{STATES[state]}</dd>
        </div>
        <div data-pending={pending > 0}>
          <dt>To push</dt>
          <dd data-part={`${id}-pending`}>{formatCount(pending, 'item')}</dd>
        </div>
      </dl>
      <Segmented<'both' | 'market'>
        legend={`What the ${id} looks at`}
        name={`${id}-shops`}
        options={[
          ['both', 'Both shops'],
          ['market', 'Market only'],
        ]}
        value={hasBakery.value ? 'both' : 'market'}
        onChange={(shops) => attempt(() => device.setBakery(shops === 'both'))}
      />
      <ItemList device={device} />
      <Log device={device} />
    </section>
  );
}

function Log({ device: { title, log } }: { device: Device }) {
  return (
    <ol class="device-log small figures" aria-label={`Events of the ${title.toLowerCase()}`}>
      {/* Keyed by position: a new event is no layout shift. */}
      {log.value.map(({ at, text }, place) => (
        <li key={place}>
          <time class="soft" dateTime={at.toISOString()}>
            {formatClock(at)}
          </time>
          <span>{text}</span>
        </li>
      ))}
    </ol>
  );
}
