import { render } from 'preact';
import { Announcer } from '../../app/announcer.tsx';
import { applyTheme } from '../../app/theme.ts';
import '../../design/fonts.css';
import '../../design/tokens.css';
import '../../design/base.css';
import '../../parts/button.css';
import '../../parts/panel.css';
import { Checkout } from './checkout.tsx';
import { joinRushes } from './ordering.ts';
import { followShop } from './shop.ts';
import './second-page.css';

/** A page of its own, with its own client of the shop's database. */
function SecondPage() {
  return (
    <div class="second-page">
      <Checkout title="A second page" text="A frame with another client, like a tab." />
      <Announcer />
    </div>
  );
}

applyTheme();
joinRushes();
followShop();
render(<SecondPage />, document.body);
