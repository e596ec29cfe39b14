import { render } from 'preact';
import { App } from './app/app.tsx';
import './design/fonts.css';
import './design/tokens.css';
import './design/base.css';
import { keepForOffline } from './app/offline.ts';
import { applyTheme } from './app/theme.ts';

applyTheme();
const root = document.getElementById('app');
if (root) render(<App />, root);
keepForOffline();
