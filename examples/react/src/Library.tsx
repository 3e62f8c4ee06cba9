import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type ChangeEvent, useRef, useState } from 'react';
import { account, client, trpc } from './lynxroom.ts';

export function Library({ userName }: { userName: string }) {
  const queryClient = useQueryClient();
  const workspaces = useQuery(trpc.workspaces.list.queryOptions());
  const workspace = workspaces.data?.workspaces[0];
  const logout = useMutation(
    trpc.auth.logout.mutationOptions({ onSuccess: () => queryClient.setQueryData(account.queryKey, null) }),
  );

  return (
    <>
      <h1>{workspace?.name ?? 'Loading …'}</h1>
      <p>
        {userName}{' '}
        <button type="button" onClick={() => logout.mutate()}>
          Sign out
        </button>
      </p>
      {workspace && <Upload id={workspace.id} />}
      {workspace && <Items id={workspace.id} />}
    </>
  );
}

function Upload({ id }: { id: number }) {
  const queryClient = useQueryClient();
  const [progress, setProgress] = useState(0);
  const abort = useRef(new AbortController());
  const upload = useMutation({
    mutationFn(file: File) {
      abort.current = new AbortController();
      const { signal } = abort.current;
      return client.upload({ id, file }, { signal, onProgress: ({ sent, total }) => setProgress(sent / total) });
    },
    onSuccess: () => queryClient.invalidateQueries(trpc.library.list.pathFilter()),
  });

  function choose({ target }: ChangeEvent<HTMLInputElement>): void {
    const file = target.files?.[0];
    if (file) upload.mutate(file);
    // Otherwise, the same file could not be chosen again.
    target.value = '';
  }

  return (
    <p>
      <label>
        Upload a PDF or MP4 <input type="file" accept=".pdf,.mp4" disabled={upload.isPending} onChange={choose} />
      </label>
      {/* All bytes may be sent before the service has stored them. */}
      {upload.isPending && (
        <>
          <progress value={progress < 1 ? progress : undefined} />
          <button type="button" onClick={() => abort.current.abort(new Error('Cancelled'))}>
            Cancel
          </button>
        </>
      )}
      {upload.error && <span role="alert">{upload.error.message}</span>}
    </p>
  );
}

function Items({ id }: { id: number }) {
  const { data, error, hasNextPage, fetchNextPage } = useInfiniteQuery(
    trpc.library.list.infiniteQueryOptions({ id, limit: 20 }, { getNextPageParam: (page) => page.next_cursor }),
  );
  if (!data) return <p>{error ? error.message : 'Loading …'}</p>;
  return (
    <>
      <ul>
        {data.pages.flatMap(({ items }) =>
          items.map((item) => (
            <li key={item.id}>
              {item.name}, {item.size} bytes
            </li>
          )),
        )}
      </ul>
      {hasNextPage && (
        <button type="button" onClick={() => fetchNextPage()}>
          More
        </button>
      )}
    </>
  );
}
