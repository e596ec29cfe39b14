/**
 * The anchor of a heading, as GitHub makes it: links of the pages work in both places
 * (docs/decisions/028-documentation-site.md).
 */
export function anchorOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\- _]/gu, '')
    .replaceAll(' ', '-');
}
