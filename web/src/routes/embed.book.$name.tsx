/** A booking page in a frame of another origin. */
import { createFileRoute } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { meetHostPage, tellSize } from '../lib/host-page.ts';
import { BookPage } from './-public/BookPage.tsx';

export const Route = createFileRoute('/embed/book/$name')({ component: EmbeddedBooking });

function EmbeddedBooking() {
  useEffect(meetHostPage, []);
  const content = useRef<HTMLDivElement>(null);
  useEffect(() => (content.current === null ? undefined : tellSize(content.current)), []);
  return (
    <div ref={content}>
      <BookPage slug={Route.useParams().name} />
    </div>
  );
}
