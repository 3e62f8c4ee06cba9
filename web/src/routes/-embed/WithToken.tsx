import { useQuery } from '@tanstack/react-query';
import { Suspense, useEffect } from 'react';
import { ErrorPanel } from '../../components/ErrorPanel.tsx';
import { PageHeader } from '../../components/PageHeader.tsx';
import { SkeletonRows } from '../../components/Skeleton.tsx';
import { BrandHeader, useBrandColor } from '../../frame/Brand.tsx';
import { trpc } from '../../lib/client.ts';
import { describeError } from '../../lib/errors.ts';
import { tellHostPage } from '../../lib/host-page.ts';
import { useWorkspaceId } from '../../lib/workspace.ts';
import { type Part, parts } from './parts.ts';

/** Shows the part if the token of the frame is one for it. */
export function WithToken({ part }: { part: Part }) {
  const id = useWorkspaceId();
  const current = useQuery(trpc.embedTokens.current.queryOptions({ id }));
  const branding = useQuery(trpc.branding.read.queryOptions({ id }));
  useBrandColor(branding.data?.branding.color ?? null);
  const scope = current.data?.scope;
  const isOther = scope !== undefined && scope?.kind !== part;
  const { title, Content } = parts[part];
  useRefusal(current.error, isOther);
  const isAllowed = scope?.kind === part;
  // A logo that came later would move the content.
  if (isAllowed && !branding.isPending) {
    return (
      <>
        <BrandHeader branding={branding.data?.branding} className="mb-6" />
        <Suspense fallback={<SkeletonRows />}>
          <Content mayUpload={scope.access === 'upload'} />
        </Suspense>
      </>
    );
  }
  return (
    <>
      <PageHeader title={title} />
      {(current.isPending || isAllowed) && <SkeletonRows />}
      {current.isError && (
        <ErrorPanel what={`${title} could not be loaded`} error={current.error} onRetry={() => current.refetch()} />
      )}
      {isOther && <p role="status">{OTHER_KIND}</p>}
    </>
  );
}

const OTHER_KIND = 'This page has been given access to another part of the workspace.';

/** Tells the page around the frame that its token is not the right one. What has ended is told by `followToken`. */
function useRefusal(error: unknown, isOther: boolean): void {
  useEffect(() => {
    if (isOther) tellHostPage({ event: 'error', code: 'EMBED_SCOPE', message: OTHER_KIND });
    if (!error) return;
    const { code, message } = describeError(error);
    if (code !== 'UNAUTHORIZED') tellHostPage({ event: 'error', code, message });
  }, [error, isOther]);
}
