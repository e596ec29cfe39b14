import { signal } from '@preact/signals';
import type { ClientStatus } from 'cairndb';
import { announce } from '../../app/announcer.tsx';
import { formatCount, formatSpan } from '../../parts/format.ts';
import { messageOf } from '../../parts/message-of.ts';
import { type Cause, endSince, noteEnd } from './engine-ends.ts';
import { watchLead } from './recipes/lead.ts';
import { board, laidHere, ME, shared, sharedProblem, sharedStatus } from './shared.ts';

/** A failover, as text. */
export interface Event {
  readonly at: Date;
  readonly what: string;
  /** Duration and outcome; empty for the first event. */
  readonly outcome: string;
  readonly tone: 'good' | 'bad' | undefined;
}

const CAUSES: Readonly<Record<Cause, string>> = {
  left: 'The leader closed.',
  thrown: 'The worker threw an error.',
  ended: 'The worker was terminated.',
};

const KEPT = 6;

/** Newest first. */
export const events = signal<readonly Event[]>([]);

/** Milliseconds of the last failover. */
export const lastFailover = signal<number | undefined>(undefined);

/** Whether this tab led when the engine was last open; `undefined` before that. */
let led: boolean | undefined;
/** When the engine was last known to run, and to be gone; Unix milliseconds. */
let openAt = 0;
let goneAt: number | undefined;

let isFollowed = false;

/** Watches the leader, from the panel's first display until the page ends. */
export function followLead(): void {
  if (isFollowed) return;
  isFollowed = true;
  watchLead(shared, hear);
  addEventListener('pagehide', () => {
    if (led) noteEnd('left', ME);
  });
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) goneAt = Date.now(); // the page was in the back/forward cache
  });
  shared.ready.catch((error: unknown) => {
    sharedProblem.value = messageOf(error);
  });
}

function hear(status: ClientStatus): void {
  sharedStatus.value = status;
  const { state, leader, last_error } = status;
  if (state === 'failed') sharedProblem.value = last_error?.message ?? 'The database has ended.';
  else if (state === 'opening' && led !== undefined) goneAt ??= Date.now();
  else if (state === 'open' && (led === undefined || goneAt !== undefined))
    tellLead(leader === true);
}

function tellLead(leads: boolean): void {
  const now = Date.now();
  const before = led;
  const end = endSince(openAt);
  // A tab that comes back had left by itself.
  const known = end && !(end.cause === 'left' && end.by === ME) ? end : undefined;
  const took = now - (known?.at ?? goneAt ?? now);
  [led, openAt, goneAt] = [leads, now, undefined];
  if (before === undefined) add(firstText(leads), '', undefined);
  else tellFailover(changeText(before, leads, known?.cause), took);
}

async function tellFailover(what: string, took: number): Promise<void> {
  lastFailover.value = took;
  const laid = laidHere.peek();
  try {
    // Runs after all earlier calls.
    const missing = laid - (await board.countLaid(ME));
    const outcome = `It took ${formatSpan(took)}. ${lossText(laid, missing)}`;
    add(what, outcome, missing > 0 ? 'bad' : 'good');
  } catch (error) {
    add(what, `The stones could not be counted: ${messageOf(error)}`, 'bad');
  }
}

function firstText(leads: boolean): string {
  return leads ? 'This tab leads.' : 'Another tab leads. This one follows.';
}

function changeText(led: boolean, leads: boolean, cause: Cause | undefined): string {
  const why = cause ? CAUSES[cause] : 'The engine is gone.';
  if (leads !== led) return `${why} ${leads ? 'This tab leads now.' : 'Another tab leads now.'}`;
  return `${why} ${cause === 'left' ? 'Another tab leads now.' : 'A new worker replaced it.'}`;
}

function lossText(laid: number, missing: number): string {
  if (missing > 0) return `${formatCount(missing, 'stone')} of ${laid} are missing.`;
  if (laid === 0) return 'This tab had laid no stones.';
  return laid === 1
    ? 'Nothing was lost: the stone of this tab is there.'
    : `Nothing was lost: all ${laid} stones of this tab are there.`;
}

function add(what: string, outcome: string, tone: Event['tone']): void {
  events.value = [{ at: new Date(), what, outcome, tone }, ...events.value].slice(0, KEPT);
  announce(`${what} ${outcome}`);
}
