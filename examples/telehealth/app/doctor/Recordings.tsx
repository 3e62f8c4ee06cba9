import type { Recording } from '@lynxroom/client';

export function Recordings({ recordings }: { recordings: readonly Recording[] }) {
  if (recordings.length === 0) return <p>There are none.</p>;
  return (
    <ul>
      {recordings.map(({ id, created_at, status, duration }) => (
        <li key={id}>
          <time>{new Date(created_at * 1000).toISOString()}</time>{' '}
          {status === 'available' ? <a href={`/recordings/${id}`}>Open ({duration} s)</a> : status}
        </li>
      ))}
    </ul>
  );
}
