import { highlightCode, tagHighlighter, tags } from '@lezer/highlight';
import { parser } from '@lezer/javascript';
import type { ComponentChildren } from 'preact';

/** The classes of code-sample.css and of the editor. */
export const codeClasses = tagHighlighter([
  { tag: tags.comment, class: 'code-comment' },
  { tag: [tags.keyword, tags.operatorKeyword, tags.controlKeyword], class: 'code-keyword' },
  { tag: [tags.string, tags.regexp], class: 'code-string' },
  { tag: [tags.number, tags.bool, tags.null], class: 'code-number' },
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], class: 'code-property' },
  { tag: [tags.typeName, tags.className], class: 'code-type' },
]);

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
