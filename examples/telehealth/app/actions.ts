'use server';

import { refresh } from 'next/cache';
import { cookies } from 'next/headers';
import { redirect } from 'next/navigation';
import { createLynxroom, readSettings } from '../lib/lynxroom.ts';
import { people, requirePerson } from '../lib/people.ts';

/** Believes everybody: the sign-in of your product stands here. */
export async function signIn(form: FormData): Promise<void> {
  const person = people.find(({ id }) => id === form.get('id'));
  if (!person) redirect('/');
  (await cookies()).set('person', person.id, { httpOnly: true, sameSite: 'lax' });
  redirect(`/${person.role}`);
}

/** Makes a pass with which the signed-in person enters the room once. Each one ends the unused one before. */
export async function enterRoom(): Promise<string> {
  const person = await requirePerson();
  const { workspace, room } = readSettings();
  const isDoctor = person.role === 'doctor' ? 1 : 0;
  const { token } = await createLynxroom().participants.create.mutate({
    id: workspace,
    roomName: room,
    name: person.name,
    external_id: person.id,
    is_host: isDoctor,
    may_record: isDoctor,
  });
  return token;
}

/** Renders the page again. The room goes on. */
export async function readAgain(): Promise<void> {
  refresh();
}
