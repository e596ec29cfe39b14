import { useEffect, useState } from 'react';
import { syncs } from './database';

/** A photo: of this device, or loaded from the server by its hash. */
export function Photo({ visit, path }: { visit: string; path: string }) {
  const [url, setUrl] = useState('');
  const [attempt, setAttempt] = useState(0);
  const [isMissing, setMissing] = useState(false);

  useEffect(() => {
    let made = '';
    let isLeft = false;
    setMissing(false);
    syncs.visits.file(visit, path).then(
      (photo) => {
        if (photo && !isLeft) {
          made = URL.createObjectURL(photo);
          setUrl(made);
        }
      },
      () => setMissing(true), // offline, say
    );
    return () => {
      isLeft = true;
      URL.revokeObjectURL(made);
    };
  }, [visit, path, attempt]);

  if (url) return <img src={url} alt="Taken at the visit" />;
  return (
    <button type="button" className="photo" onClick={() => setAttempt(attempt + 1)}>
      {isMissing ? 'Load again' : 'Loading'}
    </button>
  );
}
