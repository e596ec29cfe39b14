import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { announce } from '../app/announcer.tsx';
import './code-colours.css';
import './code-sample.css';

interface CodeSampleProps {
  /** What the code does. */
  readonly title: string;
  /** The source of a module that this page runs, as text. */
  readonly source: string;
}

/** Source code of this page, to copy. */
export function CodeSample({ title, source }: CodeSampleProps) {
  const text = withoutOwnImports(source);
  const coloured = useSignal<ComponentChildren>(text);
  const label = useSignal('Copy');

  useEffect(() => {
    let isGone = false;
    import('./highlight.tsx').then(({ highlight }) => {
      if (!isGone) coloured.value = highlight(text);
    }, console.error); // readable without colours
    return () => {
      isGone = true;
    };
  }, [text, coloured]);

  async function copy() {
    try {
      await navigator.clipboard.writeText(text);
      label.value = 'Copied';
    } catch {
      label.value = 'Not allowed'; // the browser refused; visitors can still select the text
    }
    announce(`${label.value}.`);
    setTimeout(() => {
      label.value = 'Copy';
    }, 2000);
  }

  return (
    <figure class="code-sample">
      <figcaption>
        <span>{title}</span>
        <button type="button" class="button compact copy" onClick={copy}>
          {label}
        </button>
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys */}
      <section class="code-lines" tabIndex={0} aria-label={title}>
        <pre>{coloured.value}</pre>
      </section>
    </figure>
  );
}

/** Imports from the page itself are types only and are left out. */
function withoutOwnImports(source: string): string {
  return source.replace(/^import [^;]*from '\.[^']*';\n/gm, '').trim();
}

/** The code of a panel. */
export function CodeSection({ children }: { children: ComponentChildren }) {
  return (
    <section class="code-section" aria-labelledby="code-title">
      <h2 id="code-title">The code</h2>
      <p class="soft">The code that this panel runs.</p>
      <div class="code-list">{children}</div>
    </section>
  );
}
