/** The users of this product. The service knows them by the same ids, as `external_id`. */
import 'server-only';
import { cookies } from 'next/headers';
import { redirect } from 'next/navigation';

export type Person = { id: string; name: string; role: 'patient' | 'doctor' };

export const people: readonly Person[] = [
  { id: 'patient-7', name: 'Pat Patient', role: 'patient' },
  { id: 'doctor-1', name: 'Dr. Dana Doctor', role: 'doctor' },
];

/** The signed-in person. Others are sent to the start page, also those with another role. */
export async function requirePerson(role?: Person['role']): Promise<Person> {
  const id = (await cookies()).get('person')?.value;
  const person = people.find((one) => one.id === id);
  if (!person || (role && person.role !== role)) redirect('/');
  return person;
}
