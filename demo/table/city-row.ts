import type { StoredCity } from '../city.ts';
import { formatCountry, formatNumber, formatPlace } from '../format.ts';
import { copyOf, part } from '../part.ts';

/** What can be done to a city, as `data-action` of the buttons in its row names it. */
export type CityAction = 'edit' | 'archive' | 'delete';

/** What can be edited in place. */
export interface CityChanges {
  readonly name: string;
  readonly population: number;
}

export function makeRow(city: StoredCity): HTMLElement {
  const row = copyOf('row-template');
  const write = (name: string, text: string) => {
    part(row, name, HTMLElement).textContent = text;
  };
  write('name', city.name);
  write('country', formatCountry(city.country));
  write('population', formatNumber(city.population));
  write('place', formatPlace(city.location));
  part(row, 'capital', HTMLElement).hidden = city.kind !== 'PPLC';
  part(row, 'edited', HTMLElement).hidden = !city._updated;
  part(row, 'archived', HTMLElement).hidden = !city._archived;
  row.classList.toggle('archived', city._archived);
  label(row, 'edit', `Edit ${city.name}`);
  label(row, 'archive', `${city._archived ? 'Unarchive' : 'Archive'} ${city.name}`);
  label(row, 'delete', `Delete ${city.name}`);
  if (city._archived) {
    row.querySelector('[data-action="archive"] use')?.setAttribute('href', '#icon-unarchive');
  }
  return row;
}

function label(row: HTMLElement, action: CityAction, title: string): void {
  const button = row.querySelector<HTMLButtonElement>(`[data-action="${action}"]`);
  if (!button) return;
  button.title = title;
  button.setAttribute('aria-label', title);
}

/** A row with fields in place of the text. `done` gets what is to be saved, or nothing. */
export function makeEditor(
  city: StoredCity,
  done: (changes: CityChanges | undefined) => void,
): HTMLElement {
  const row = copyOf('editor-template');
  const form = part(row, 'editor', HTMLFormElement);
  const name = part(form, 'edit-name', HTMLInputElement);
  const population = part(form, 'edit-population', HTMLInputElement);
  name.value = city.name;
  population.value = String(city.population);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    done({ name: name.value, population: population.valueAsNumber });
  });
  form.addEventListener('keydown', ({ key }) => {
    if (key === 'Escape') done(undefined);
  });
  part(form, 'cancel', HTMLButtonElement).addEventListener('click', () => done(undefined));
  return row;
}
