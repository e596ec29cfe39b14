import { ValueError } from '../../errors/value-error.ts';

/** @param place Where in the changes, such as `changes.$inc.count`. */
export function updateInvalid(place: string, problem: string): ValueError {
  return new ValueError('update_invalid', `${place} ${problem}. Nothing was changed.`, { place });
}
