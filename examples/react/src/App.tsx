import { useQuery } from '@tanstack/react-query';
import { Library } from './Library.tsx';
import { account } from './lynxroom.ts';
import { SignIn } from './SignIn.tsx';

export function App() {
  const { data: user, error } = useQuery(account);
  if (user === undefined) return <p>{error ? error.message : 'Loading …'}</p>;
  return user ? <Library userName={user.name} /> : <SignIn />;
}
