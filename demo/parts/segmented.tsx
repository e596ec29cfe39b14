import './segmented.css';

interface SegmentedProps<Value extends string> {
  readonly legend: string;
  readonly name: string;
  readonly options: readonly (readonly [value: Value, label: string])[];
  readonly value: Value;
  readonly onChange: (value: Value) => void;
}

/** A choice between a few options, side by side. */
export function Segmented<Value extends string>(props: SegmentedProps<Value>) {
  return (
    <fieldset class="segmented">
      <legend class="hidden">{props.legend}</legend>
      {props.options.map(([value, label]) => (
        <label key={value}>
          <input
            type="radio"
            class="hidden"
            name={props.name}
            value={value}
            checked={value === props.value}
            onChange={() => props.onChange(value)}
          />
          <span>{label}</span>
        </label>
      ))}
    </fieldset>
  );
}
