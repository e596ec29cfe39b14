import './icon.css';

/** A line drawing on a grid of 20, beside words that say the same. */
export function Icon({ path }: { path: string }) {
  return (
    <svg class="icon" viewBox="0 0 20 20" aria-hidden="true">
      <path d={path} />
    </svg>
  );
}
