import { people } from '../lib/people.ts';
import { signIn } from './actions.ts';

export default function SignInPage() {
  return (
    <form action={signIn}>
      <h1>Telehealth</h1>
      <p>Who are you?</p>
      {people.map(({ id, name }) => (
        <p key={id}>
          <button type="submit" name="id" value={id}>
            {name}
          </button>
        </p>
      ))}
    </form>
  );
}
