import type { Engine } from '../../src/engine/engine.ts';
import type { Session } from '../../src/engine/sessions/session.ts';
import { OpenHandles, ReplayBuffer } from '../../src/page/connection/replay.ts';
import type { EngineEvent } from '../../src/protocol/event-protocol.ts';
import type { AcknowledgedChange, Request } from '../../src/protocol/requests.ts';
import type { CollectionSettings } from '../../src/protocol/settings.ts';
import { ask, NOTES, notes, VALUES, values } from './successive-engines.ts';

type Released = Extract<EngineEvent, { type: 'released' }>['detail'];

/** Nothing is saved by itself. */
const unsaved = { save_timeout: 3600, save_early: false, save_directly_after: 1000 };

/** A client, over one engine after the other, that keeps what is not saved. */
export class ReplayingClient {
  readonly kept = new ReplayBuffer();
  readonly #numbers = new OpenHandles();
  readonly #settings: CollectionSettings;
  readonly #unheard: Released[] = [];
  #session: Session | undefined;

  constructor(settings: CollectionSettings = notes) {
    this.#settings = settings;
  }

  /** Joins an engine, and replays to it. */
  async join(engine: Engine, changes: readonly AcknowledgedChange[] = this.kept.all()) {
    const session = engine.join((event) => {
      if (event.type === 'released') this.#unheard.push(event.detail);
    }, 'a');
    session.openAll([
      [NOTES, { ...this.#settings, ...unsaved }],
      [VALUES, { ...values, ...unsaved }],
    ]);
    this.#session = session;
    return session.replay(changes);
  }

  /** Replays to the engine that has refused changes. */
  async replayAgain() {
    return (this.#session as Session).replay(this.kept.all());
  }

  leave(): void {
    this.#session?.leave();
  }

  /** The reply to a request, which counts as acknowledged. */
  async make(request: Request): Promise<any> {
    const first = this.#numbers.number([request]);
    const reply = await this.#session?.execute([request], first);
    if (!reply) throw new Error('It has no engine.');
    this.kept.note([request], first, reply);
    for (const error of reply.failures?.values() ?? []) throw error;
    return reply.values[0];
  }

  /** Forgets what the engine has saved so far. */
  hear(): void {
    for (const { handle, number, missed } of this.#unheard.splice(0))
      this.kept.release(handle, number, missed);
  }

  /** The reply to a request that was sent before, with its sequence numbers. */
  async repeat(request: Request): Promise<any> {
    return ask(this.#session as Session, request);
  }

  async contents(): Promise<unknown> {
    const session = this.#session as Session;
    const scan = { op: 'scan', handle: NOTES, archived: true, all: true } as const;
    const { keys, flags, stamps, bodies } = await ask(session, scan);
    const entries = await ask(session, { op: 'kvEntries', handle: VALUES });
    return { keys, flags: [...flags], stamps, bodies, entries };
  }

  async save(): Promise<void> {
    await this.#session?.save();
  }
}
