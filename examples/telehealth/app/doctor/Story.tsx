import { people } from '../../lib/people.ts';
import { readStory } from '../../lib/story.ts';

/** The events of visits have the ids of this product, by which it finds its own people. */
export function Story() {
  return (
    <table>
      <thead>
        <tr>
          <th>Time</th>
          <th>Event</th>
          <th>Id</th>
          <th>Name</th>
        </tr>
      </thead>
      <tbody>
        {readStory().map((message) => {
          const { event, timestamp } = message;
          const id = event === 'room.joined' || event === 'room.left' ? message.data.external_id : null;
          return (
            <tr key={`${timestamp} ${event} ${id}`}>
              <td>{timestamp}</td>
              <td>{event}</td>
              <td>{id}</td>
              <td>{people.find((person) => person.id === id)?.name}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
