import { render } from 'solid-js/web';
import { App } from './app';
import './app.css';
import { SessionProvider } from './session';

render(
  () => <SessionProvider>{() => <App />}</SessionProvider>,
  document.getElementById('root') as HTMLElement,
);
