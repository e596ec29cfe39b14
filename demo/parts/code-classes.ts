import { tagHighlighter, tags } from '@lezer/highlight';

/** The classes of code-colours.css, for samples and the editor. */
export const codeClasses = tagHighlighter([
  { tag: tags.comment, class: 'code-comment' },
  { tag: [tags.keyword, tags.operatorKeyword, tags.controlKeyword], class: 'code-keyword' },
  { tag: [tags.string, tags.regexp], class: 'code-string' },
  { tag: [tags.number, tags.bool, tags.null], class: 'code-number' },
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], class: 'code-property' },
  { tag: [tags.typeName, tags.className], class: 'code-type' },
]);
