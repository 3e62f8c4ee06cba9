'use client';

import { Booking } from '@lynxroom/react';
import { useState } from 'react';

/** The booking page, in a frame of the service. It needs no token. */
export function Appointment({ service, bookingPage }: { service: string; bookingPage: string }) {
  const [news, setNews] = useState('');
  return (
    <>
      <Booking
        service={service}
        slug={bookingPage}
        onBooked={({ starts_at }) => setNews(`Booked for ${new Date(starts_at * 1000).toLocaleString()}.`)}
        onError={({ message }) => setNews(message)}
      />
      <p role="status">{news}</p>
    </>
  );
}
