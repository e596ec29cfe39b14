import './progress.css';

interface ProgressProps {
  readonly label: string;
  readonly value: number;
  readonly max: number;
}

export function Progress({ label, value, max }: ProgressProps) {
  return <progress class="progress" aria-label={label} value={Math.min(value, max)} max={max} />;
}
