export function App() {
  return (
    <main>
      <h1>Field service</h1>
      <p>Who are you?</p>
      <nav>
        {['Ada', 'Ben', 'Office'].map((name) => (
          <a key={name} className="button" href={`?user=${name.toLowerCase()}`}>
            {name}
          </a>
        ))}
      </nav>
    </main>
  );
}
