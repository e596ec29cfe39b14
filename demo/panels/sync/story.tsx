import { StatusText } from '../../parts/status-text.tsx';
import { startOver, syncProblem, world } from './devices.ts';
import { merges } from './merges.ts';
import './story.css';

/** Steps to try, each with a mark once it is done. */
export function Story() {
  const [, laptop] = world.value.devices;
  const isMerged = merges.value.some(({ device, isConflict }) => isConflict && device === laptop);
  const isOffline = !laptop.isOnline.value;
  const isChanged = isOffline && laptop.status.value.pending > 0;
  const steps = [
    { text: 'Take the laptop offline.', isDone: isMerged || isOffline },
    { text: 'Change the amount of the bread on both.', isDone: isMerged || isChanged },
    { text: 'Put the laptop online, and decide who is right.', isDone: isMerged && !isOffline },
  ];
  return (
    <section class="card story-card" aria-labelledby="story-title">
      <div class="story-head">
        <h2 id="story-title">Try it</h2>
        <button type="button" class="button" onClick={startOver}>
          Start over
        </button>
      </div>
      <ol class="story">
        {steps.map(({ text, isDone }) => (
          <li key={text} data-done={isDone}>
            <span>
              {isDone && <span class="hidden">Done: </span>}
              {text}
            </span>
          </li>
        ))}
      </ol>
      <StatusText
        text="Then count Milk up on both by +: every step counts. Add a photo, or let a device look at the market only."
        problem={syncProblem.value}
      />
    </section>
  );
}
