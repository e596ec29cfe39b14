/** @param {string} text @param {string} option */
export function wholeNumber(text, option) {
  const number = Number(text);
  if (Number.isInteger(number) && number > 0) return number;
  throw new Error(`${option} takes whole numbers above 0, not ${text}; see --help.`);
}
