import { PANELS, type Panel } from '../../app/catalogue.ts';
import { hrefOf } from '../../app/route.ts';
import { Icon } from '../../parts/icon.tsx';
import './claims.css';

const panels: readonly Panel[] = PANELS;

/** Links to the other panels. */
export function Claims() {
  return (
    <section aria-labelledby="claims-title">
      <h2 id="claims-title" class="hidden">
        Panels
      </h2>
      <ul class="claims">
        {panels
          .filter(({ claim }) => claim)
          .map((panel) => (
            <li key={panel.id}>
              <a class="card" href={hrefOf(panel)}>
                <Icon path={panel.icon} />
                <strong>{panel.title}</strong>
                <span class="soft">{panel.claim}</span>
              </a>
            </li>
          ))}
      </ul>
    </section>
  );
}
