import { type ErrorComponentProps, Link, useRouter } from '@tanstack/react-router';
import { CircleAlert } from 'lucide-react';
import { useDisplay } from '../lib/display.ts';
import { describeError } from '../lib/errors.ts';
import { Button, buttonClass } from './Button.tsx';
import { CopyRequestId } from './CopyRequestId.tsx';

/** An error in place of what could not be read, with the ID of the request to copy if the service failed. */
export function ErrorPanel({ error, onRetry, what }: { error: unknown; onRetry?: () => void; what?: string }) {
  const { texts } = useDisplay();
  const { message, requestId } = describeError(error);
  return (
    <div role="alert" className="flex flex-col items-start gap-3 rounded-xl border border-line bg-danger-soft p-5">
      <p className="flex items-center gap-2 font-medium text-danger-text">
        <CircleAlert aria-hidden size={20} className="shrink-0" />
        {what ?? texts['shared.notLoaded']}
      </p>
      <p>{message}</p>
      {requestId !== null && <RequestId id={requestId} />}
      {onRetry && <Button onClick={onRetry}>{texts['shared.tryAgain']}</Button>}
    </div>
  );
}

/** An error above the fields of a form. */
export function ErrorNote({ error }: { error: unknown }) {
  const { message, requestId } = describeError(error);
  return (
    <div role="alert" className="flex scroll-mt-4 flex-col gap-1 rounded-lg bg-danger-soft px-3 py-2 text-danger-text">
      <p>{message}</p>
      {requestId !== null && <RequestId id={requestId} />}
    </div>
  );
}

function RequestId({ id }: { id: string }) {
  const { texts } = useDisplay();
  return (
    <p className="flex flex-wrap items-center gap-1 text-sm">
      <span>
        {texts['shared.request']} <code className="font-mono">{id}</code>
      </span>
      <CopyRequestId id={id} />
    </p>
  );
}

/** What the router shows if a page fails. */
export function PageError({ error }: ErrorComponentProps) {
  const router = useRouter();
  return (
    <main className="mx-auto w-full max-w-2xl p-6">
      <h1 className="mb-4 text-2xl font-semibold">This page does not work</h1>
      <ErrorPanel error={error} onRetry={() => void router.invalidate()} />
    </main>
  );
}

export function NotFound() {
  return (
    <main className="mx-auto flex w-full max-w-2xl flex-col items-start gap-3 p-6">
      <h1 className="text-2xl font-semibold">Page not found</h1>
      <p>There is nothing at this address, or it is not yours to see.</p>
      <Link to="/" className={buttonClass('secondary')}>
        Go to the start page
      </Link>
    </main>
  );
}
