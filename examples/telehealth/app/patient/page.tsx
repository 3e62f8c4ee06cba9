import { readSettings } from '../../lib/lynxroom.ts';
import { requirePerson } from '../../lib/people.ts';
import { Appointment } from '../Appointment.tsx';
import { Consultation } from '../Consultation.tsx';

export default async function PatientPage() {
  const patient = await requirePerson('patient');
  const { service, room, bookingPage } = readSettings();
  return (
    <>
      <h1>{patient.name}</h1>
      <h2>Consultation</h2>
      <Consultation service={service} room={room} />
      <h2>Next appointment</h2>
      <Appointment service={service} bookingPage={bookingPage} />
    </>
  );
}
