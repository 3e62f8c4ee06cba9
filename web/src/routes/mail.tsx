/**
 * `/mail`: leads to the mail that was not sent, which the service shows to browsers on its own machine while it has no
 * mail server. Elsewhere, the page says where mail is.
 */
import { createFileRoute } from '@tanstack/react-router';
import { Mail } from 'lucide-react';
import { EmptyState } from '../components/EmptyState.tsx';
import { PageHeader } from '../components/PageHeader.tsx';
import { Frame } from '../frame/Frame.tsx';
import { requireAccount } from '../lib/session.ts';

const OUTBOX = '/dev/mail';

export const Route = createFileRoute('/mail')({
  beforeLoad: requireAccount,
  async loader() {
    const answer = await fetch(OUTBOX);
    if (!answer.ok) return;
    location.replace(OUTBOX);
    // The browser leaves this page.
    await new Promise<never>(() => {});
  },
  component: MailPage,
});

function MailPage() {
  return (
    <Frame navigation={null}>
      <PageHeader title="Mail" />
      <EmptyState icon={<Mail aria-hidden size={28} />} title="The mail is not shown here">
        Either this service sends its mail, or you do not open it on its own machine. Operators list the mail with{' '}
        <code className="font-mono">npm run lynxroom -- mail</code>.
      </EmptyState>
    </Frame>
  );
}
