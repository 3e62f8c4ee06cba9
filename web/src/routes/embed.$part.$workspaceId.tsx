/** The library or the webhooks of a workspace in a frame of another origin, with the token that its page gives. */
import { createFileRoute } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { NotFound } from '../components/ErrorPanel.tsx';
import { PageHeader } from '../components/PageHeader.tsx';
import { followToken, tokenTexts, useTokenState } from '../lib/embed-token.ts';
import { meetHostPage, tellSize } from '../lib/host-page.ts';
import { isPart, parts } from './-embed/parts.ts';
import { WithToken } from './-embed/WithToken.tsx';

export const Route = createFileRoute('/embed/$part/$workspaceId')({ component: EmbeddedPart });

function EmbeddedPart() {
  useEffect(meetHostPage, []);
  useEffect(followToken, []);
  const content = useRef<HTMLElement>(null);
  useEffect(() => (content.current === null ? undefined : tellSize(content.current)), []);
  const state = useTokenState();
  const { part } = Route.useParams();
  if (!isPart(part)) return <NotFound />;
  return (
    // The dialogs need a part of the height.
    <main ref={content} className="min-h-120 p-4">
      {state === 'given' ? (
        <WithToken part={part} />
      ) : (
        <>
          <PageHeader title={parts[part].title} />
          <p role="status">{tokenTexts[state]}</p>
        </>
      )}
    </main>
  );
}
