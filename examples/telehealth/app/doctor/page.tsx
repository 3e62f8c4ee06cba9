import { createLynxroom, readSettings } from '../../lib/lynxroom.ts';
import { requirePerson } from '../../lib/people.ts';
import { readAgain } from '../actions.ts';
import { Consultation } from '../Consultation.tsx';
import { Recordings } from './Recordings.tsx';
import { Story } from './Story.tsx';

export default async function DoctorPage() {
  const doctor = await requirePerson('doctor');
  const { service, room } = readSettings();
  const { recordings } = await createLynxroom().recordings.listInRoom.query({ name: room });
  return (
    <>
      <h1>{doctor.name}</h1>
      <h2>Consultation</h2>
      <Consultation service={service} room={room} />
      <form action={readAgain}>
        <button type="submit">Read again</button>
      </form>
      <h2>Recordings</h2>
      <Recordings recordings={recordings} />
      <h2>Who was here</h2>
      <Story />
    </>
  );
}
