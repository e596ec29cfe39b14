import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import './app.css';

/** Stands in for your login. */
const user = new URLSearchParams(location.search).get('user');
// The app opens the database of the user as it loads.
const { App } = user ? await import('./app') : await import('./login');

createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
