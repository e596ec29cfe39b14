import { useSignalEffect } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { Icon } from '../parts/icon.tsx';
import { PANELS } from './catalogue.ts';
import { hrefOf, route } from './route.ts';

export function Navigation() {
  const list = useRef<HTMLUListElement>(null);
  // On a phone the list is wider than the page: keep the present panel in sight.
  useSignalEffect(() => {
    const current = list.current?.querySelector<HTMLElement>(`[href="${hrefOf(route.value)}"]`);
    if (!current || !list.current) return;
    const { offsetLeft, offsetWidth } = current;
    list.current.scrollLeft = offsetLeft - (list.current.clientWidth - offsetWidth) / 2;
  });
  return (
    <nav class="navigation" aria-label="Panels">
      <ul ref={list}>
        {PANELS.map((panel) => (
          <li key={panel.id}>
            <a href={hrefOf(panel)} aria-current={panel === route.value ? 'page' : undefined}>
              <Icon path={panel.icon} />
              {panel.title}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
