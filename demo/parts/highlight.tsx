import { highlightCode } from '@lezer/highlight';
import { parser } from '@lezer/javascript';
import type { ComponentChildren } from 'preact';
import { codeClasses } from './code-classes.ts';

const typescript = parser.configure({ dialect: 'ts' });

/** TypeScript, coloured. */
export function highlight(text: string): ComponentChildren {
  const parts: ComponentChildren[] = [];
  highlightCode(
    text,
    typescript.parse(text),
    codeClasses,
    (part, classes) => parts.push(classes ? <span class={classes}>{part}</span> : part),
    () => parts.push('\n'),
  );
  return parts;
}
