import { render } from 'solid-js/web';
import { App } from './app';
import './app.css';

render(() => <App />, document.getElementById('root') as HTMLElement);
